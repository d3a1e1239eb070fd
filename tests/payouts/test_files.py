"""A payout is in one bank file at most, which one person makes and another marks as sent."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction
from lxml import etree
from pytest_django import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import files, make
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import AuditEntry, Payout, PayoutAccount, PayoutFile, PayoutSchedule
from tests.client import Api
from tests.ledger.books import settle, standing
from tests.operators.factories import person
from tests.payouts.live import DEBTOR_NUMBER, NUMBER, approval_of, approve, live_account, make_file, ready, sent
from tests.payouts.setups import live_payout
from tests.payouts.stories import days_pass, give_schedule, make_payout
from tests.routing.conftest import live, north  # noqa: F401
from tests.routing.doubles import Psp, account_at, route_to

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("debtors")]


def broken() -> list[str]:
    """Return the invariants that do not hold."""
    return [invariant.name for invariant in INVARIANTS if checks.check(invariant).count]


def test_a_file_has_what_is_approved_of_its_currency_of_all_merchants(account: PayoutAccount) -> None:
    other = live_account(create_merchant("Other Store").merchant)
    payouts = [ready(account), ready(other, 5)]
    ready(live_account(account.merchant, currency="EUR"))
    file = make_file()
    assert set(file.payouts.all()) == set(payouts)
    assert (file.count, file.total, file.debtor_bic, file.debtor_last4) == (2, 10_005, "BNORPHMM", DEBTOR_NUMBER[-4:])


def test_a_file_takes_nothing_that_may_not_be_sent(account: PayoutAccount, north: Psp) -> None:  # noqa: F811
    make_payout(account.merchant)
    live_payout(account.merchant, account=account)
    ready(account, status="cancelled", ended_at=clock.now())
    ready(account, provider_account=account_at(north, account.merchant))
    assert files.waiting() == []
    with pytest.raises(Refused, match="No payout in PHP waits"):
        make_file()


@pytest.mark.parametrize("columns", [{"holder": "***"}, {"holder": "★"}, {"bic": "NOBIC"}])
def test_an_account_that_no_bank_can_write_is_left_out_and_the_others_payouts_go_out(
    account: PayoutAccount, columns: dict[str, str]
) -> None:
    broken_one = live_account(create_merchant("Other Store").merchant)
    PayoutAccount.objects.filter(id=broken_one.id).update(**columns)
    left, taken = ready(broken_one, 5), ready(account)
    assert [(row.count, row.total) for row in files.waiting()] == [(1, 10_000)]
    file = make_file()
    assert list(file.payouts.all()) == [taken]
    assert taken.id.hex in files.download(file).decode()
    assert list(Payout.objects.left_out()) == [left]
    with pytest.raises(Refused, match="No payout in PHP waits"):
        make_file()


@pytest.mark.parametrize("holder", ["日本", "Ñ", "Иван", "X"])
def test_an_account_whose_holder_can_be_written_in_latin_letters_is_in_the_file(shop: NewMerchant, holder: str) -> None:
    payout = ready(live_account(shop.merchant, holder=holder))
    assert list(make_file().payouts.all()) == [payout]


def test_a_file_takes_the_oldest_payouts_first_and_the_next_one_the_rest(
    account: PayoutAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PayoutFile, "MOST", 2)
    payouts = [ready(account) for _ in range(3)]
    assert [list(make_file().payouts.order_by("id")), list(make_file().payouts.all())] == [payouts[:2], payouts[2:]]


def test_no_sum_of_a_file_counts_what_is_kept_in_reserve(account: PayoutAccount) -> None:
    kept = {"reserve": 2_000, "reserve_due_at": clock.now()}
    ready(account, **kept), ready(account, 5, **kept)
    assert [row.total for row in files.waiting()] == [10_005]
    file = make_file()
    document = etree.fromstring(files.download(file))
    assert (file.total, files.summary(file)) == (10_005, "2 payouts, ₱100.05")
    assert [document.findtext(f".//{{*}}{name}/{{*}}CtrlSum") for name in ("GrpHdr", "PmtInf")] == ["100.05"] * 2
    assert sorted(each.text for each in document.iter("{*}InstdAmt")) == ["0.05", "100.00"]


def test_without_an_account_of_ours_no_file_is_made_and_the_refusal_says_what_to_set(account: PayoutAccount) -> None:
    ready(live_account(account.merchant, currency="USD"))
    with pytest.raises(Refused, match="in USD: set PAYOUT_DEBTOR_ACCOUNTS and PAYOUT_DEBTOR_NAME"):
        make_file("USD")


def test_each_download_has_the_same_bytes_whatever_is_set_meanwhile(account: PayoutAccount, settings: Settings) -> None:
    ready(account), ready(account, 5)
    file = make_file()
    first = files.download(file)
    settings.PAYOUT_DEBTOR_NAME, settings.PAYOUT_DEBTOR_ACCOUNTS = "Another", {}
    live_account(account.merchant, "111111111111")
    ready(account)
    sent(file)
    files.mark_paid(file, person("cleo"))
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


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"file": None, "status": "in_transit", "sent_at": clock.now()}, "live_payout_is_sent_by_file_or_provider"),
        ({"approved_at": None, "approval": None}, "payout_in_file_is_approved_and_live"),
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


def test_each_step_is_in_the_audit_log_without_an_account_number(account: PayoutAccount) -> None:
    ready(account)
    file = sent(make_file())
    files.mark_paid(file, person("cleo"))
    entries = AuditEntry.objects.filter(object_id=file.id).order_by("id")
    assert [entry.action for entry in entries] == ["added", "exported", "changed", "changed"]
    recorded = " ".join(f"{entry.detail} {entry.object_name}" for entry in AuditEntry.objects.all())
    assert "1 payout, ₱100.00" in recorded
    assert NUMBER not in recorded
    assert DEBTOR_NUMBER not in recorded


@pytest.mark.long
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
            lambda: (
                approval_of(PayoutFile.objects.get())
                and PayoutFile.objects.update(downloaded_at=clock.now(), sent_at=clock.now())
            ),
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
    file = sent(make_file())
    assert standing()["payouts_in_transit"] == -file.total
    assert broken() == []
    files.mark_paid(file, person("cleo"))
    assert "payouts_in_transit" not in standing()
    assert broken() == []
