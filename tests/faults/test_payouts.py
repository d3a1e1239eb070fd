"""A process that sends a payout and is killed, stalled or cut off: the payout is sent once, and is never forgotten."""

from collections.abc import Iterator

import pytest

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, send
from payments.failpoints import Failpoint
from payments.models import Payout
from payments.providers.simulator.models import SimulatedPayout
from payments.tasks import run_sweep
from tests.client import Api
from tests.faults.jobs import Fault, Kill, Stall
from tests.faults.proxy import Cut
from tests.faults.tallies import broken_invariants
from tests.faults.world import World
from tests.payouts.stories import bank_acts, give_account, give_schedule, settled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

STEPS = (Failpoint.OPENED, Failpoint.ASKING, Failpoint.ANSWERED, Failpoint.RECORDING, Failpoint.RECORDED)
# Where a process has not asked yet, and may do so after it was taken for dead.
UNASKED = (Failpoint.OPENED, Failpoint.ASKING)
LOST_AFTER = [Stall(step, then=then) for step in UNASKED for then in (Kill(Failpoint.ANSWERED), Cut.DROPPED)]
ROUNDS = 6


@pytest.fixture(autouse=True)
def payout(fire: World, api: Api, shop: NewMerchant) -> Iterator[Payout]:
    """Make a payout that is due; at the end of the test the money is where everybody says it is."""
    settled(api)
    give_account(shop.merchant)
    yield make.make_now(give_schedule(shop.merchant).id)
    assert broken_invariants() == []


def send_payouts() -> None:
    run_sweep("send_payouts")


def find_out() -> None:
    """Do what other workers do until the payout is on its way: as often as needed, with the time that it takes."""
    for _ in range(ROUNDS):
        if Payout.objects.get().status != Payout.Status.PENDING:
            return
        Payout.objects.update(due_at=clock.now())
        send.send_due()
    raise AssertionError("the payout was never sent")


def expose(world: World, fault: Fault) -> bool:
    """Send the payout in a process with this fault, and find out; return whether the process was killed."""
    ending = world.expose(send_payouts, fault, meanwhile=find_out)
    find_out()
    return ending.killed


def paid_once(payout: Payout) -> bool:
    """Return whether the payout reaches the bank, and is in its books once."""
    bank_acts()
    booked = SimulatedPayout.objects.filter(reference=payout.id.hex).values_list("state", "amount")
    return (Payout.objects.get().status, list(booked)) == ("paid", [("paid", payout.amount)])


@pytest.mark.parametrize("step", STEPS)
def test_a_process_killed_at_any_step_is_finished_by_another(fire: World, payout: Payout, step: Failpoint) -> None:
    assert expose(fire, Kill(step))
    assert paid_once(payout)


@pytest.mark.parametrize("step", STEPS)
def test_a_process_that_continues_after_it_was_taken_for_dead_sends_nothing_twice(
    fire: World, payout: Payout, step: Failpoint
) -> None:
    expose(fire, Stall(step))
    assert paid_once(payout)


@pytest.mark.parametrize("fault", LOST_AFTER, ids=str)
def test_what_a_process_sends_after_it_was_taken_for_dead_is_no_second_payout(
    fire: World, payout: Payout, fault: Stall
) -> None:
    expose(fire, fault)
    assert paid_once(payout)


@pytest.mark.parametrize("cut", list(Cut))
def test_an_answer_cut_in_any_way_is_found_out(fire: World, payout: Payout, cut: Cut) -> None:
    expose(fire, cut)
    assert paid_once(payout)
