"""The list of transactions adds up to the balance while charges, refunds, settlements and payouts run."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from threading import Event

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, send, states
from payments.domain.payouts.make import NothingToPay
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.invariants.checks import read_only_snapshot
from payments.ledger import settlement
from payments.models import Charge, PayoutSchedule, Posting
from tests.charging.elapsed_time import let_time_pass
from tests.client import Api, made
from tests.concurrency import in_background
from tests.payouts.readings import all_pages, balance, kept_balances, listed_balances, summed
from tests.payouts.stories import days_pass, give_account, give_schedule

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("fees"),
    pytest.mark.long,
]

READINGS = 20
PAUSE_SECONDS = 0.4
KINDS = {"capture", "fee", "refund", "settle", "payout", "reserve", "reserve_release"}


@pytest.fixture
def schedule(shop: NewMerchant) -> PayoutSchedule:
    give_account(shop.merchant)
    return give_schedule(shop.merchant, reserve_percent=10, reserve_days=1)


def sell(api: Api, over: Event) -> None:
    """Charge and refund, each amount once, with pauses, until it is over."""
    for number in count(1):
        charge = api.charge(amount=1_000 + number, currency=("PHP", "USD")[number % 2])
        if number % 2 == 0:
            made(api.post(f"/charges/{charge['id']}/refund", {"amount": 7 + number}))
        if number % 4 == 0 and over.wait(PAUSE_SECONDS):
            return


def settle_and_pay_out(schedule: PayoutSchedule, over: Event) -> None:
    """Let days pass, each with a settlement and a payout, until it is over."""
    while not over.wait(PAUSE_SECONDS):
        let_time_pass(Charge, "settle_due_at")
        settlement.settle_due()
        days_pass(1)
        with suppress(NothingToPay):
            make.make_now(schedule.id)
        send.send_due()
        apply_simulator_messages()
        states.release_reserves()


@contextmanager
def business(api: Api, schedule: PayoutSchedule) -> Iterator[None]:
    """Let money move on three threads meanwhile, and fail where one of them failed."""
    over = Event()
    tasks = [lambda: sell(api, over), lambda: sell(api, over), lambda: settle_and_pay_out(schedule, over)]
    with ExitStack() as stack:
        running = [stack.enter_context(in_background(task)) for task in tasks]
        stack.callback(over.set)
        yield
    assert [thread.exception() for thread in running] == [None] * len(running)


def kinds() -> set[str]:
    """Return the kinds of movements so far."""
    return set(Posting.objects.order_by().values_list("kind", flat=True).distinct())


def test_in_every_snapshot_the_transactions_add_up_to_the_balance(
    api: Api, shop: NewMerchant, schedule: PayoutSchedule
) -> None:
    seen = set()
    with business(api, schedule):
        while len(seen) < READINGS or not kinds() >= KINDS:
            with read_only_snapshot():
                kept = kept_balances(shop.merchant.id)
                assert listed_balances(shop.merchant.id, length=20) == kept
            seen.add(tuple(sorted(kept.items())))


def test_a_program_that_reads_the_same_balance_before_and_after_the_pages_finds_that_they_add_up(
    api: Api, schedule: PayoutSchedule
) -> None:
    agreed = set()
    with business(api, schedule):
        while len(agreed) < 3 or not kinds() >= KINDS:
            before, rows, after = balance(api), all_pages(api, "/balance_transactions/", limit=100), balance(api)
            if before == after:
                assert summed(rows) == before
                agreed.add(tuple(sorted(before.items())))
    assert summed(all_pages(api, "/balance_transactions/", limit=100)) == balance(api)
