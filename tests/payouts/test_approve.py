"""What operators do about payouts: two people for live money, and money that comes back when nothing is sent."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, connection

from payments.db.writes import StaleRow
from payments.domain.approvals import decide, payouts
from payments.domain.approvals.kinds.payouts import Outcome, outcomes_of
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import states
from payments.domain.payouts.make import NothingToPay
from payments.ids import new_id
from payments.models import ApprovalRequest, AuditEntry, Payout
from tests.approvals.factories import REASON
from tests.approvals.factories import approved as approve_request
from tests.client import Api
from tests.concurrency import at_once
from tests.ledger.books import standing
from tests.operators.corrections import operator
from tests.payouts.live import approve, put_into_file
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
    decide.approve_or_ask(payout, finance("fely"), REASON)
    put_into_file(payout)
    return states.mark_sent(payout)


def test_a_payout_of_a_schedule_takes_one_operator_up_to_their_limit(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant, LIMIT)
    assert decide.approve_or_ask(payout, finance("fely"), REASON)
    request = ApprovalRequest.objects.get()
    assert Payout.objects.get().approval == request
    assert (request.state, request.proposed_by, request.decided_by) == ("done", finance("fely"), None)
    assert [each.action for each in AuditEntry.objects.about(request).order_by("id")] == ["proposed", "done"]
    assert AuditEntry.objects.filter(action="approved", object_id=str(payout.id)).exists()


@pytest.mark.parametrize(("amount", "role"), [(LIMIT + 1, "finance"), (1, "viewer")], ids=["above", "without a limit"])
def test_a_payout_above_the_limit_takes_two_operators(shop: NewMerchant, amount: int, role: str) -> None:
    payout, fely, flor = live_payout(shop.merchant, amount), finance("fely"), finance("flor")
    fely.groups.set(Group.objects.filter(name=role))
    assert not decide.approve_or_ask(payout, fely, REASON)
    assert Payout.objects.get().approved_at is None
    with pytest.raises(Refused, match="their own request"):
        decide.approve_or_ask(payout, fely, REASON)
    assert decide.approve_or_ask(payout, flor, REASON)
    request = ApprovalRequest.objects.get()
    assert (Payout.objects.get().approval, request.proposed_by, request.decided_by) == (request, fely, flor)


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda payout: decide.approve_or_ask(payout, finance("flor"), REASON),
        payouts.cancel,
    ],
    ids=["approved", "cancelled"],
)
def test_an_approval_of_what_has_changed_since_it_was_read_is_refused(
    shop: NewMerchant, meanwhile: Callable[[Payout], object]
) -> None:
    payout = live_payout(shop.merchant)
    meanwhile(Payout.objects.get(id=payout.id))
    fely, before, entries = finance("fely"), Payout.objects.values().get(), AuditEntry.objects.count()
    with pytest.raises(Refused, match="does not wait"):
        decide.approve_or_ask(payout, fely, REASON)
    assert (Payout.objects.values().get(), AuditEntry.objects.count()) == (before, entries)


UNDECIDED = {"state": "proposed", "decided_by": None, "decided_at": None, "note": ""}


@pytest.mark.parametrize(
    ("by_hand", "forged"),
    [
        (False, {"amount": 2}),
        (False, UNDECIDED),
        (False, {"kind": "record_payout"}),
        (False, {"subject_id": new_id()}),
        (True, UNDECIDED | {"state": "done", "limit": LIMIT}),
    ],
)
def test_the_database_lets_no_payout_out_but_by_a_request_about_it_that_is_done(
    shop: NewMerchant, by_hand: bool, forged: dict[str, object]
) -> None:
    payout = live_payout(shop.merchant)
    Payout.objects.update(requested_by=finance("fely") if by_hand else None)
    approve(payout)
    ApprovalRequest.objects.update(**forged)
    with pytest.raises(IntegrityError, match="approved by no request"), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    connection.set_rollback(True)


def test_a_request_ends_with_the_payout_that_is_cancelled(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant, LIMIT + 1)
    decide.approve_or_ask(payout, finance("fely"), REASON)
    payouts.cancel(payout)
    request = ApprovalRequest.objects.get()
    assert request.state == "overtaken"
    with pytest.raises(Refused, match="no longer open"):
        decide.approve(request, finance("flor"), REASON)


def test_a_payout_of_test_mode_is_not_approved(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    settled(api)
    payout = payouts.pay_out(schedule, finance("fely"), REASON)
    with pytest.raises(Refused, match="does not wait"):
        decide.approve_or_ask(payout, finance("flor"), REASON)


def test_pay_out_now_names_who_asked_for_it(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    with pytest.raises(NothingToPay):
        payouts.pay_out(schedule, finance("fely"), REASON)
    settled(api)
    payout = payouts.pay_out(schedule, finance("fely"), REASON)
    assert Payout.objects.get().requested_by == finance("fely")
    assert AuditEntry.objects.filter(action="added", object_id=str(payout.id)).exists()


def test_a_cancelled_payout_gives_the_balance_its_money_back(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    settled(api)
    before = standing()
    payouts.cancel(payouts.pay_out(schedule, finance("fely"), REASON))
    assert standing() == before
    assert Payout.objects.get().status == Payout.Status.CANCELLED
    assert AuditEntry.objects.filter(action="cancelled").exists()


def test_an_approved_payout_can_be_cancelled_until_it_is_sent(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant)
    decide.approve_or_ask(payout, finance("fely"), REASON)
    payouts.cancel(payout)
    with pytest.raises(Refused, match="cancelled"):
        decide.approve_or_ask(Payout.objects.get(), finance("flor"), REASON)


def test_a_payout_on_its_way_cannot_be_cancelled(sent: Payout) -> None:
    with pytest.raises(Refused, match="on its way"):
        payouts.cancel(sent)


def test_the_end_of_a_payout_of_a_file_is_recorded_by_two_operators(sent: Payout) -> None:
    request = requested_record(sent, "paid")
    assert Payout.objects.get().status == Payout.Status.IN_TRANSIT
    with pytest.raises(Refused, match="their own request"):
        decide.approve(request, operator("ana"), REASON)
    approve_request(request)
    assert Payout.objects.get().status == Payout.Status.PAID
    assert AuditEntry.objects.filter(action="done", object_id=str(sent.id)).exists()


def test_a_returned_payout_gives_the_money_back_to_the_balance(sent: Payout) -> None:
    paid = states.mark_paid(sent)
    assert outcomes_of(paid) == [Outcome.RETURNED]
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
    assert outcomes_of(by_provider) == []
    assert outcomes_of(Payout(livemode=False, status=Payout.Status.IN_TRANSIT)) == []
    assert outcomes_of(Payout(livemode=True, status=Payout.Status.PENDING)) == []


@pytest.mark.django_db(transaction=True)
def test_of_approvals_and_a_cancellation_at_once_none_sends_a_cancelled_payout(shop: NewMerchant) -> None:
    payout = live_payout(shop.merchant)
    operators = [finance(f"fely{number}") for number in range(3)]

    def act(number: int) -> bool:
        own = Payout.objects.get(id=payout.id)
        try:
            payouts.cancel(own) if number == len(operators) else decide.approve_or_ask(own, operators[number], REASON)
        except Refused:
            return False
        return number < len(operators)

    assert sum(at_once(4, act)) <= 1
    kept = Payout.objects.select_related("account").get()
    if kept.status == Payout.Status.CANCELLED:
        with pytest.raises(StaleRow):
            states.mark_sent(kept)
