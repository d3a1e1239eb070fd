"""A payout is in one bank file at most, which one person makes and another marks as sent."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from pytest_django import Settings

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import files, make, states
from payments.ids import new_id
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import AuditEntry, Event, Payout, PayoutAccount, PayoutFile, PayoutSchedule
from tests.client import Api
from tests.ledger.books import settle, standing
from tests.operators.factories import person
from tests.payouts.live import DEBTOR_NUMBER, DEBTORS, NUMBER, PAY_ON, approve, live_account, make_file, ready, sent
from tests.payouts.stories import days_pass, give_schedule, make_payout
from tests.routing.conftest import live, north  # noqa: F401
from tests.routing.doubles import Psp, account_at, route_to

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def debtors(settings: Settings) -> None:
    settings.PAYOUT_DEBTOR_NAME, settings.PAYOUT_DEBTOR_ACCOUNTS = "Kaha Philippines Inc.", DEBTORS


@pytest.fixture
def account(shop: NewMerchant) -> PayoutAccount:
    return live_account(shop.merchant)


@pytest.fixture
def ana() -> User:
    return person("ana")


@pytest.fixture
def ben() -> User:
    return person("ben")


def broken() -> list[str]:
    """Return the invariants that do not hold."""
    return [invariant.name for invariant in INVARIANTS if checks.check(invariant).count]


def statuses(file: PayoutFile) -> list[str]:
    return list(file.payouts.order_by("id").values_list("status", flat=True))


def test_a_file_has_what_is_approved_of_its_currency_of_all_merchants(account: PayoutAccount) -> None:
    other = live_account(create_merchant("Other Store").merchant)
    payouts = [ready(account), ready(other, 5)]
    ready(live_account(account.merchant, currency="EUR"))
    file = make_file()
    assert set(file.payouts.all()) == set(payouts)
    assert (file.count, file.total, file.debtor_bic, file.debtor_last4) == (2, 10_005, "BNORPHMM", DEBTOR_NUMBER[-4:])


def test_a_file_takes_nothing_that_may_not_be_sent(account: PayoutAccount, north: Psp) -> None:  # noqa: F811
    make_payout(account.merchant)
    ready(account, approved_by=None, approved_at=None)
    ready(account, status="cancelled", ended_at=clock.now())
    ready(account, provider_account=account_at(north, account.merchant))
    assert files.waiting() == []
    with pytest.raises(Refused, match="No payout in PHP waits"):
        make_file()


def test_a_file_takes_the_oldest_payouts_first_and_the_next_one_the_rest(
    account: PayoutAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PayoutFile, "MOST", 2)
    payouts = [ready(account) for _ in range(3)]
    assert [list(make_file().payouts.order_by("id")), list(make_file().payouts.all())] == [payouts[:2], payouts[2:]]


def test_what_waits_is_summed_by_currency(account: PayoutAccount) -> None:
    ready(account), ready(account, 5)
    ready(live_account(account.merchant, currency="USD"), 7)
    found = [(row.currency, row.count, row.total, row.has_debtor) for row in files.waiting()]
    assert found == [("PHP", 2, 10_005, True), ("USD", 1, 7, False)]


def test_without_an_account_of_ours_no_file_is_made_and_the_refusal_says_what_to_set(account: PayoutAccount) -> None:
    ready(live_account(account.merchant, currency="USD"))
    with pytest.raises(Refused, match="in USD: set PAYOUT_DEBTOR_ACCOUNTS and PAYOUT_DEBTOR_NAME"):
        make_file("USD")


def test_a_form_that_is_sent_twice_makes_one_file(account: PayoutAccount) -> None:
    file_id = new_id()
    for amount in (1, 2):
        ready(account, amount)
        if amount == 1:
            make_file(file_id=file_id)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_file(file_id=file_id)
    assert PayoutFile.objects.get().total == 1


def test_each_download_has_the_same_bytes_whatever_is_set_meanwhile(account: PayoutAccount, settings: Settings) -> None:
    ready(account), ready(account, 5)
    file = make_file()
    first = files.download(file)
    settings.PAYOUT_DEBTOR_NAME, settings.PAYOUT_DEBTOR_ACCOUNTS = "Another", {}
    live_account(account.merchant, "111111111111")
    ready(account)
    sent(file)
    files.mark_paid(file)
    assert files.download(PayoutFile.objects.get()) == first
    assert NUMBER.encode() in first
    assert DEBTOR_NUMBER.encode() in first


def test_the_first_download_is_remembered(account: PayoutAccount) -> None:
    ready(account)
    file = make_file()
    files.download(file)
    first = PayoutFile.objects.get().downloaded_at
    files.download(file)
    assert first is not None
    assert PayoutFile.objects.get().downloaded_at == first


def test_a_sent_file_has_its_payouts_in_transit_with_their_events(account: PayoutAccount, ben: User) -> None:
    payouts = [ready(account), ready(account)]
    file = sent(make_file())
    assert statuses(file) == ["in_transit"] * 2
    assert (file.sent_by, file.is_open) == (ben, False)
    events = Event.objects.filter(object_id__in=[payout.id for payout in payouts])
    assert [event.type for event in events] == ["payout.updated"] * 2


def test_nobody_marks_their_own_file_as_sent(account: PayoutAccount, ana: User) -> None:
    ready(account)
    file = make_file(by=ana)
    files.download(file)
    file.refresh_from_db()
    with pytest.raises(Refused, match="Another person"):
        files.mark_sent(file, ana)
    with pytest.raises(IntegrityError, match="payout_file_sent_by_another"), transaction.atomic():
        PayoutFile.objects.update(sent_by=ana, sent_at=clock.now())


def test_a_file_that_nobody_has_cannot_be_marked_as_sent(account: PayoutAccount, ben: User) -> None:
    ready(account)
    with pytest.raises(Refused, match="Nobody has downloaded"):
        files.mark_sent(make_file(), ben)


def test_a_file_is_sent_as_a_whole_or_not_at_all(account: PayoutAccount, ben: User) -> None:
    ready(account)
    last = ready(account)
    file = make_file()
    files.download(file)
    file.refresh_from_db()
    about = {"merchant": account.merchant, "livemode": True, "object_id": last.id, "type": "payout.updated"}
    Event.objects.create(**about, sequence=last.version + 1, payload=b"{}")
    with pytest.raises(IntegrityError):
        files.mark_sent(file, ben)
    assert statuses(file) == ["pending"] * 2
    assert PayoutFile.objects.get().is_open


def test_a_cancelled_file_frees_its_payouts_for_the_next(account: PayoutAccount, ana: User) -> None:
    payouts = [ready(account), ready(account)]
    file = make_file(by=ana)
    files.cancel(file, ana)
    with pytest.raises(Refused, match="was cancelled"):
        files.download(file)
    assert list(make_file().payouts.order_by("id")) == payouts


def test_a_file_that_somebody_has_is_cancelled_by_another_than_its_maker(
    account: PayoutAccount, ana: User, ben: User
) -> None:
    ready(account)
    stale = file = make_file(by=ana)
    files.download(file)
    with pytest.raises(Refused, match="Somebody else"):
        files.cancel(stale, ana)
    with pytest.raises(Refused, match="Another person checks"):
        files.cancel(PayoutFile.objects.get(), ana)
    with pytest.raises(IntegrityError, match="cancelled_by_another"), transaction.atomic():
        PayoutFile.objects.update(cancelled_by=ana, cancelled_at=clock.now())
    files.cancel(PayoutFile.objects.get(), ben)
    assert not Payout.objects.exclude(file=None).exists()


def test_a_sent_file_is_neither_cancelled_nor_sent_again(account: PayoutAccount, ben: User) -> None:
    ready(account)
    file = sent(make_file())
    for change in (files.cancel, files.mark_sent):
        with pytest.raises(Refused, match="meanwhile"):
            change(file, ben)
    assert statuses(file) == ["in_transit"]


def test_a_payout_in_a_file_is_not_cancelled(account: PayoutAccount) -> None:
    payout = ready(account)
    make_file()
    with pytest.raises(StaleRow):
        states.cancel(payout)
    with pytest.raises(IntegrityError, match="payout_in_file"), transaction.atomic():
        Payout.objects.update(status="cancelled", ended_at=clock.now())


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"file": None, "status": "in_transit", "sent_at": clock.now()}, "live_payout_is_sent_by_file_or_provider"),
        ({"approved_at": None, "approved_by": None}, "payout_in_file_is_approved_and_live"),
        ({"livemode": False}, "payout_in_file_is_approved_and_live"),
    ],
)
def test_the_database_refuses_a_payout_that_breaks_the_rules_of_files(
    account: PayoutAccount, values: dict[str, object], rule: str
) -> None:
    ready(account)
    make_file()
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        Payout.objects.update(**values)


def test_a_file_marked_as_paid_pays_what_the_bank_did_not_return(account: PayoutAccount) -> None:
    returned = ready(account)
    ready(account), ready(account)
    file = sent(make_file())
    states.mark_failed(Payout.objects.select_related("account").get(id=returned.id), "returned")
    assert files.mark_paid(file) == 2
    assert statuses(file) == ["failed", "paid", "paid"]
    with pytest.raises(Refused, match="in transit"):
        files.mark_paid(file)


def test_a_file_that_is_not_sent_is_not_paid(account: PayoutAccount) -> None:
    ready(account)
    with pytest.raises(Refused):
        files.mark_paid(make_file())


def test_each_step_is_in_the_audit_log_without_an_account_number(account: PayoutAccount) -> None:
    ready(account)
    file = sent(make_file())
    files.mark_paid(file)
    entries = AuditEntry.objects.filter(object_id=file.id).order_by("number")
    assert [entry.action for entry in entries] == ["added", "exported", "changed", "changed"]
    said = " ".join(f"{entry.detail} {entry.object_name}" for entry in AuditEntry.objects.all())
    assert "1 payout, PHP 100.00" in said
    assert NUMBER not in said
    assert DEBTOR_NUMBER not in said


@pytest.mark.parametrize(
    ("invariant", "forge"),
    [
        ("bank_files_are_their_payouts", lambda: PayoutFile.objects.update(currency="EUR")),
        ("bank_files_are_their_payouts", lambda: Payout.objects.update(file=None)),
        (
            "bank_files_are_their_payouts",
            lambda: PayoutFile.objects.update(cancelled_at=clock.now(), cancelled_by=person("ben")),
        ),
        (
            "live_payouts_are_in_a_sent_file",
            lambda: PayoutFile.objects.update(downloaded_at=clock.now(), sent_at=clock.now(), sent_by=person("ben")),
        ),
        ("live_payouts_are_in_a_sent_file", lambda: Payout.objects.update(status="in_transit", sent_at=clock.now())),
    ],
)
def test_the_money_check_finds_a_file_and_a_payout_that_disagree(
    account: PayoutAccount, invariant: str, forge: Callable[[], int]
) -> None:
    ready(account)
    make_file()
    assert invariant not in broken()
    forge()
    assert invariant in broken()


def test_money_that_was_paid_live_goes_to_the_bank_in_a_file(live: Api, shop: NewMerchant, north: Psp) -> None:  # noqa: F811
    route_to(account_at(north, shop.merchant))
    live_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    PayoutSchedule.objects.update(livemode=True)
    live.charge()
    settle()
    days_pass(1)
    approve(make.make_now(schedule.id))
    file = sent(files.make(new_id(), "PHP", PAY_ON, person("ana")))
    assert standing()["payouts_in_transit"] == -file.total
    assert broken() == []
    files.mark_paid(file)
    assert "payouts_in_transit" not in standing()
    assert broken() == []
