"""A process that is killed at any step of anything loses nothing and does nothing twice."""

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.failpoints import Failpoint
from tests.client import CHALLENGED
from tests.faults.jobs import Kill, Stall
from tests.faults.life import Kind, Life
from tests.faults.proxy import Cut
from tests.faults.tallies import broken_invariants
from tests.faults.verbs import UNASKED, VERBS
from tests.faults.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

HELD = {"capture": False}
# How a source is charged on which each verb is possible next.
READY = {
    "capture": HELD,
    "void": HELD,
    "refund": {},
    "authenticate": {"kind": Kind(CHALLENGED)},
    "overstay": {"kind": Kind(CHALLENGED)},
    "expire": HELD,
    "approve_capture": HELD,
    "approve_void": {},
    "approve_refund": {},
    "approve_release": HELD,
    "approve_extend": HELD,
    "ask_capture": HELD,
    "ask_void": HELD,
    "ask_refund": {},
    "ask_payout": {},
    "verify": {"kind": Kind(type="bpi")},
    "deliver": {},
    "dispute": {},
    "respond": {},
    "settle": {},
    "pay_out": {},
    "read_statement": {},
    "let_out_payout": {},
    "let_out_file": {},
}
CUT = [name for name, verb in VERBS.items() if verb.asks_provider and name != "recover"]


@pytest.fixture
def ready(fire: World, shop: NewMerchant) -> Iterator[Callable[[str], Life]]:
    """Run a life up to the verb, kill it there, and check the invariants of the money at the end."""

    def make(verb: str) -> Life:
        life = Life(fire, shop, Random(verb), **READY.get(verb, {}))
        if verb in READY:
            life.begin()
        return life

    yield make
    assert broken_invariants() == []


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "recover"])
def test_a_process_killed_at_any_step_is_finished_once_and_its_client_answered(
    ready: Callable[[str], Life], verb: str
) -> None:
    for step in VERBS[verb].steps:
        life = ready(verb)
        life.do(verb, Kill(step))
        assert (life.killed[verb, Kill(step)], life.findings) == (1, []), step


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "recover"])
def test_a_process_that_continues_after_it_was_taken_for_dead_does_nothing_twice(
    ready: Callable[[str], Life], verb: str
) -> None:
    for step in VERBS[verb].stalls:
        life = ready(verb)
        life.do(verb, Stall(step))
        assert life.findings == [], step


@pytest.mark.parametrize(
    "verb", ["charge", "capture", "void", "approve_extend", "approve_refund", "ask_capture", "refund", "verify"]
)
def test_what_a_process_asks_after_it_was_taken_for_dead_is_found_though_it_receives_nothing(
    ready: Callable[[str], Life], verb: str
) -> None:
    for step, then in product(UNASKED, (Kill(Failpoint.ANSWERED), Cut.DROPPED)):
        life = ready(verb)
        life.do(verb, Stall(step, then=then))
        assert life.findings == [], (step, then)


def test_a_vaulted_card_is_charged_once_by_a_request_that_is_sent_again(fire: World, shop: NewMerchant) -> None:
    """Nothing but the idempotency key keeps it from being charged twice."""
    for step in VERBS["charge"].steps:
        life = Life(fire, shop, Random(0), Kind(vaulted=True))
        life.do("charge", Kill(step))
        assert (life.killed["charge", Kill(step)], life.findings) == (1, []), step


@pytest.mark.parametrize("verb", CUT)
def test_an_answer_cut_in_any_way_is_found_out_and_its_client_answered(ready: Callable[[str], Life], verb: str) -> None:
    for cut in Cut:
        life = ready(verb)
        life.do(verb, cut)
        assert life.findings == [], cut


@pytest.mark.parametrize("verb", ["charge", "verify"])
@pytest.mark.parametrize("fault", [*map(Kill, VERBS["recover"].steps), *Cut], ids=str)
def test_a_recovery_that_fails_itself_is_done_by_the_next(
    ready: Callable[[str], Life], verb: str, fault: Kill | Cut
) -> None:
    life = ready(verb)
    life.do(verb, Kill(Failpoint.ANSWERED), then=fault)
    assert (life.killed["recover", fault], life.findings) == (isinstance(fault, Kill), [])
