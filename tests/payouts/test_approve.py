"""What operators do about payouts: two people for live money, and money that comes back when nothing is sent."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction

from payments.db.writes import StaleRow
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import approve, states
from payments.domain.payouts.approve import Outcome
from payments.domain.payouts.make import NothingToPay
from payments.models import AuditEntry, Payout
from tests.client import Api
from tests.concurrency import at_once
from tests.ledger.books import standing
from tests.operators.corrections import operator
from tests.payouts.live import put_into_file
from tests.payouts.setups import approve as approve_request
from tests.payouts.setups import live_payout, requested_record
from tests.payouts.stories import give_account, give_schedule, settled
from tests.routing.doubles import Psp, account_at, installed

pytestmark = pytest.mark.django_db

# The approval limit of finance in centavos.
LIMIT = 10_000_000


def finance(name: str) -> User:
    user = User.objects.get_or_create(username=name, defaults={"is_staff": True})[0]
    user.groups.set(Group.objects.filter(name="finance"))
    return user


@pytest.fixture
def sent(shop: NewMerchant) -> Payout:
    """Return a payout that went in a bank file."""
    payout = live_payout(shop.merchant)
    approve.approve(payout, finance("fely"))
    put_into_file(payout)
    return states.mark_sent(payout)


def test_a_payout_of_a_schedule_takes_one_operator_up_to_their_limit(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant, LIMIT)
    assert approve.approve(payout, finance("fely"))
    kept = Payout.objects.get()
    assert (kept.approved_by, kept.requested_by) == (finance("fely"), None)
    assert AuditEntry.objects.filter(action="approved", object_id=str(payout.id)).exists()


def test_a_payout_above_the_limit_takes_two_operators(shop: NewMerchant) -> None:
    payout, fely, flor = live_payout(shop.merchant, LIMIT + 1), finance("fely"), finance("flor")
    assert not approve.approve(payout, fely)
    assert Payout.objects.get().approved_at is None
    with pytest.raises(Refused, match="they asked for"):
        approve.approve(payout, fely)
    assert approve.approve(payout, flor)
    kept = Payout.objects.get()
    assert (kept.requested_by, kept.approved_by) == (fely, flor)


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda payout: approve.approve(payout, finance("flor")),
        lambda payout: approve.approve(payout, User.objects.create(username="viv", is_staff=True)),
        approve.cancel,
    ],
    ids=["approved", "requested", "cancelled"],
)
def test_an_approval_of_what_has_changed_since_it_was_read_is_refused(
    shop: NewMerchant, meanwhile: Callable[[Payout], object]
) -> None:
    payout = live_payout(shop.merchant)
    meanwhile(Payout.objects.get(id=payout.id))
    fely, before, entries = finance("fely"), Payout.objects.values().get(), AuditEntry.objects.count()
    with pytest.raises(Refused, match="meanwhile"):
        approve.approve(payout, fely)
    assert (Payout.objects.values().get(), AuditEntry.objects.count()) == (before, entries)


def test_nobody_approves_the_payout_that_they_asked_for(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant, 1, finance("fely"))
    with pytest.raises(Refused, match="Another operator must"):
        approve.approve(payout, finance("fely"))
    with pytest.raises(IntegrityError, match="payout_approved_by_another"), transaction.atomic():
        Payout.objects.update(approved_by=finance("fely"), approved_at=payout.created_at)
    assert approve.approve(payout, finance("flor"))


def test_an_approval_by_an_operator_without_a_limit_is_the_request(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant, 1)
    assert not approve.approve(payout, User.objects.create(username="viv", is_staff=True))
    assert approve.approve(payout, finance("fely"))


def test_a_payout_of_test_mode_is_not_approved(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    settled(api)
    payout = approve.pay_out(schedule, finance("fely"))
    with pytest.raises(Refused, match="does not wait"):
        approve.approve(payout, finance("flor"))


def test_pay_out_now_names_who_asked_for_it(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    with pytest.raises(NothingToPay):
        approve.pay_out(schedule, finance("fely"))
    settled(api)
    payout = approve.pay_out(schedule, finance("fely"))
    assert Payout.objects.get().requested_by == finance("fely")
    assert AuditEntry.objects.filter(action="added", object_id=str(payout.id)).exists()


def test_a_cancelled_payout_gives_the_balance_its_money_back(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    settled(api)
    before = standing()
    approve.cancel(approve.pay_out(schedule, finance("fely")))
    assert standing() == before
    assert Payout.objects.get().status == Payout.Status.CANCELLED
    assert AuditEntry.objects.filter(action="cancelled").exists()


def test_an_approved_payout_can_be_cancelled_until_it_is_sent(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant)
    approve.approve(payout, finance("fely"))
    approve.cancel(payout)
    with pytest.raises(Refused, match="cancelled"):
        approve.approve(Payout.objects.get(), finance("flor"))


def test_a_payout_on_its_way_cannot_be_cancelled(sent: Payout) -> None:
    with pytest.raises(Refused, match="on its way"):
        approve.cancel(sent)


def test_the_end_of_a_payout_of_a_file_is_recorded_by_two_operators(sent: Payout) -> None:
    request = requested_record(sent, "paid")
    assert Payout.objects.get().status == Payout.Status.IN_TRANSIT
    with pytest.raises(Refused, match="their own request"):
        approve_request(request, operator("ana"))
    approve_request(request)
    assert Payout.objects.get().status == Payout.Status.PAID
    assert AuditEntry.objects.filter(action="done", object_id=str(sent.id)).exists()


def test_a_returned_payout_gives_the_money_back_to_the_balance(sent: Payout) -> None:
    paid = states.mark_paid(sent)
    assert approve.outcomes_of(paid) == [Outcome.RETURNED]
    approve_request(requested_record(paid, "returned"))
    kept = Payout.objects.get()
    assert (kept.status, kept.failure_code) == (Payout.Status.FAILED, "returned")
    assert standing()["merchant_payable"] == -sent.amount


def test_a_record_is_refused_where_the_payout_was_changed_since(sent: Payout) -> None:
    request = requested_record(sent, "returned")
    states.mark_paid(sent)
    with pytest.raises(Refused, match="is paid now"):
        approve_request(request)
    assert Payout.objects.get().status == Payout.Status.PAID


def test_nothing_is_recorded_of_a_payout_that_a_provider_or_the_simulated_bank_reports(shop: NewMerchant) -> None:
    with installed(Psp("north")) as psp:
        account = account_at(psp, shop.merchant)
    by_provider = Payout(livemode=True, status=Payout.Status.IN_TRANSIT, provider_account=account)
    assert approve.outcomes_of(by_provider) == []
    assert approve.outcomes_of(Payout(livemode=False, status=Payout.Status.IN_TRANSIT)) == []
    assert approve.outcomes_of(Payout(livemode=True, status=Payout.Status.PENDING)) == []


@pytest.mark.django_db(transaction=True)
def test_of_approvals_and_a_cancellation_at_once_none_sends_a_cancelled_payout(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant)
    operators = [finance(f"fely{number}") for number in range(3)]

    def act(number: int) -> bool:
        own = Payout.objects.get(id=payout.id)
        try:
            approve.cancel(own) if number == len(operators) else approve.approve(own, operators[number])
        except Refused:
            return False
        return number < len(operators)

    assert sum(at_once(4, act)) <= 1
    kept = Payout.objects.select_related("account").get()
    if kept.status == Payout.Status.CANCELLED:
        with pytest.raises(StaleRow):
            states.mark_sent(kept)
