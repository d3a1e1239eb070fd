"""Payouts concurrent with each other and with settlements: each cent is paid out once, and none is forgotten."""

from contextlib import ExitStack
from threading import Event

import pytest
from django.db import transaction
from django.db.models import Sum

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make
from payments.domain.payouts.make import NothingToPay
from payments.failpoints import Failpoint, listen
from payments.ledger import settlement
from payments.models import Charge, Payout, PayoutPart, PayoutSchedule, Posting
from tests.charging.elapsed_time import let_time_pass
from tests.client import Api
from tests.concurrency import at_once, in_background
from tests.payouts.stories import days_pass, give_account, give_schedule, settled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fees")]


@pytest.fixture
def schedule(shop: NewMerchant) -> PayoutSchedule:
    give_account(shop.merchant)
    return give_schedule(shop.merchant, "daily")


def in_parts() -> int:
    """Return what all parts sum to: taken ones by their amounts, and settlements that are left by their postings."""
    known = PayoutPart.objects.aggregate(total=Sum("amount"))["total"] or 0
    left = PayoutPart.objects.filter(is_settlement=True, payout__isnull=True).values("id")
    payable = Posting.objects.filter(settlement__in=left, account="merchant_payable")
    return int(known) - int(payable.aggregate(total=Sum("amount"))["total"] or 0)


def earned() -> int:
    """Return what the merchant's available balance ever got."""
    moved = Posting.objects.filter(account="merchant_payable").exclude(kind__in=["payout", "reserve"])
    return -int(moved.aggregate(total=Sum("amount"))["total"] or 0)


def test_processes_that_run_a_schedule_at_once_make_one_payout(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    at_once(6, lambda _: make.make_due())
    assert Payout.objects.count() == 1


def test_operators_who_pay_out_at_once_make_one_payout(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)

    def pay_out(_: int) -> int:
        try:
            return make.make_now(schedule.id).amount
        except NothingToPay:
            return 0

    assert sorted(at_once(4, pay_out)) == [0, 0, 0, 10_000 - 365]


def test_a_payout_waits_for_a_settlement_that_is_being_written(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    api.charge(amount=5_000)
    let_time_pass(Charge, "settle_due_at")
    days_pass(1)
    is_written, may_commit = Event(), Event()

    def hold(step: Failpoint) -> None:
        if step is Failpoint.POSTED and not is_written.is_set():
            is_written.set()
            assert may_commit.wait(10)

    listen(hold)
    try:
        with in_background(settlement.settle_due) as settling:
            assert is_written.wait(10)
            with in_background(lambda: make.make_now(schedule.id)) as paying:
                with pytest.raises(TimeoutError):
                    paying.result(timeout=0.5)
                may_commit.set()
    finally:
        listen(None)
    assert (settling.result(), paying.result().amount) == (1, 15_000 - 365 - 190)
    assert in_parts() == earned()


def test_what_settles_while_a_payout_is_made_is_in_the_next_one(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    api.charge(amount=5_000)
    let_time_pass(Charge, "settle_due_at")

    with ExitStack() as threads, transaction.atomic():
        paid = make.make_now(schedule.id)
        settling = threads.enter_context(in_background(settlement.settle_due))
        with pytest.raises(TimeoutError):
            settling.result(timeout=0.5)
    assert settling.result() == 1
    days_pass(1)
    assert (paid.amount, make.make_now(schedule.id).amount) == (10_000 - 365, 5_000 - 190)
    assert in_parts() == earned()


def test_refunds_settlements_and_payouts_at_once_lose_no_cent(api: Api, schedule: PayoutSchedule) -> None:
    charges = [settled(api) for _ in range(4)]
    for _ in range(4):
        api.charge(amount=5_000)
    let_time_pass(Charge, "settle_due_at")

    def act(number: int) -> object:
        if number < len(charges):
            return api.post(f"/charges/{charges[number]['id']}/refund", {"amount": 1_234})
        return make.make_due() if number == len(charges) else settlement.settle_due(2)

    at_once(7, act)
    days_pass(1)
    make.make_due()
    assert in_parts() == earned()
    paid = Payout.objects.aggregate(total=Sum("amount"))["total"]
    # What was refunded after the payout of the rest is kept from the next one.
    owed = PayoutPart.objects.filter(payout__isnull=True).aggregate(total=Sum("amount"))["total"] or 0
    assert paid + owed == 4 * (10_000 - 365) + 4 * (5_000 - 190) - 4 * 1_234
