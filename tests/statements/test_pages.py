"""The pages of statements, trial balances and accounts, and who may see and download them."""

from collections.abc import Callable
from datetime import timedelta
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.ledger.account_days import sum_up_due
from payments.models import AuditEntry, LedgerDay, Merchant, MerchantAccess
from payments.staff.roles import ALL_MERCHANTS
from tests.admin.conftest import text_of, the_operator
from tests.client import signed_in
from tests.ledger.books import charge_fees
from tests.overview.past_charges import days_ago, make_past_charge

pytestmark = [pytest.mark.long, pytest.mark.django_db]
SignIn = Callable[..., Client]


@pytest.fixture
def month(shop: NewMerchant) -> str:
    """Return a month in which the shop captured 1,234.56 with a fee of 43.36."""
    charge_fees(shop.merchant)
    moment = days_ago(40)
    make_past_charge(shop.merchant, moment, amount=123_456)
    sum_up_due(limit=100)
    return f"{moment:%Y-%m}"


@pytest.fixture
def operator() -> Client:
    return signed_in(the_operator())


@pytest.fixture
def sign_in() -> SignIn:
    def sign_in(role: str, *merchants: NewMerchant) -> Client:
        user = User.objects.create(username=role, is_staff=True)
        user.groups.set(Group.objects.filter(name__in=[role, *([] if merchants else [ALL_MERCHANTS])]))
        MerchantAccess.objects.bulk_create(MerchantAccess(user=user, merchant=each.merchant) for each in merchants)
        return signed_in(user)

    return sign_in


def statement(shop: NewMerchant) -> str:
    return reverse("admin:payments_statement_change", args=[shop.merchant.pk])


def download(shop: NewMerchant, month: str, kind: str) -> str:
    return reverse("admin:payments_statement_download", args=[shop.merchant.pk, month, "test", kind])


def account(shop: NewMerchant, *day: object) -> str:
    name = "admin:payments_account_day" if day else "admin:payments_account_month"
    return reverse(name, args=[shop.merchant.pk, "test", "PHP", "merchant_pending", *day])


def test_a_statement_shows_its_balances_and_movements(operator: Client, shop: NewMerchant, month: str) -> None:
    page = text_of(operator.get(statement(shop), {"month": month, "mode": "test"})).replace("\xa0", " ")
    for text in (
        f"Statement of {shop.merchant.title}, ",
        "Opening balance",
        "Captured",
        "₱1,234.56",
        "−₱43.36",
        "₱1,191.20",
        "Closing balance",
        "without what is kept in reserve",
    ):
        assert text in page, text
    assert "provisional" not in page


def test_a_statement_of_a_month_to_come_says_why_not(operator: Client, shop: NewMerchant) -> None:
    assert "has not begun" in text_of(operator.get(statement(shop), {"month": "2999-01"}))


@pytest.mark.parametrize(("kind", "begins"), [("pdf", b"%PDF-"), ("csv", b"\xef\xbb\xbf")])
def test_finance_downloads_a_statement_and_the_audit_log_says_so(
    kind: str, begins: bytes, sign_in: SignIn, shop: NewMerchant, month: str
) -> None:
    response = sign_in("finance", shop).get(download(shop, month, kind))
    assert response.content.startswith(begins)
    name = f"Statement of Sari Store, {days_ago(40):%B %Y}, test mode.{kind}"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor, entry.detail) == ("exported", "finance", name)


def test_a_file_is_named_in_the_merchants_letters_and_for_programs_without_them(
    operator: Client, shop: NewMerchant, month: str
) -> None:
    Merchant.objects.update(title='Niño "日/本"')
    header = operator.get(download(shop, month, "pdf"))["Content-Disposition"]
    plain, _, encoded = header.partition("; filename*=UTF-8''")
    assert plain.startswith('attachment; filename="Statement of Nino Ri Ben, ')
    assert unquote(encoded).startswith("Statement of Niño 日 本, ")


@pytest.mark.parametrize("role", ["viewer", "support"])
def test_other_roles_see_a_statement_and_download_nothing(
    role: str, sign_in: SignIn, shop: NewMerchant, month: str
) -> None:
    client = sign_in(role)
    assert download(shop, month, "pdf") not in text_of(client.get(statement(shop), {"month": month, "mode": "test"}))
    assert client.get(download(shop, month, "pdf")).status_code == 403
    assert client.get(reverse("admin:payments_ledgerday_download"), {"at": clock.iso(clock.now())}).status_code == 403


def test_another_merchants_books_are_on_no_page(sign_in: SignIn, shop: NewMerchant, month: str) -> None:
    client = sign_in("finance", create_merchant("Other Store"))
    for address in (statement(shop), download(shop, month, "pdf"), account(shop), account(shop, days_ago(40).date())):
        assert client.get(address).status_code == 404, address
    assert "1,234.56" not in text_of(client.get(reverse("admin:payments_ledgerday_at")))
    assert "Sari Store" not in text_of(client.get(reverse("admin:payments_statement_changelist")))


def test_a_trial_balance_says_that_debits_equal_credits(operator: Client, shop: NewMerchant, month: str) -> None:
    day = days_ago(40).date()
    day_before = reverse("admin:payments_ledgerday_change", args=[day - timedelta(days=1)])
    assert operator.get(day_before).status_code == 404
    page = text_of(operator.get(reverse("admin:payments_ledgerday_change", args=[day]))).replace("\xa0", " ")
    for text in ("Debits equal credits", "₱1,191.20", "₱43.36", "Total without memo accounts"):
        assert text in page, text
    assert page.count("₱1,234.56") == 3
    assert day.strftime("%b") in text_of(operator.get(reverse("admin:payments_ledgerday_changelist")))
    assert LedgerDay.objects.count() >= 39


def test_a_trial_balance_is_shown_and_downloaded_at_any_moment(sign_in: SignIn, shop: NewMerchant, month: str) -> None:
    client = sign_in("administrator")
    asked = {"day": days_ago(40).date().isoformat(), "time": "11:59"}
    assert "Nothing had been posted" in text_of(client.get(reverse("admin:payments_ledgerday_at"), asked))
    asked["time"] = "12:01"
    assert "1,234.56" in text_of(client.get(reverse("admin:payments_ledgerday_at"), asked))
    moment = days_ago(40).isoformat()
    assert b"total" not in client.get(reverse("admin:payments_ledgerday_download"), {"at": moment}).content
    later = client.get(reverse("admin:payments_ledgerday_download"), {"at": clock.iso(clock.now())}).content
    assert b"1234.56,1234.56,123456,123456" in later
    assert AuditEntry.objects.latest("id").action == "exported"


@pytest.mark.parametrize("at", ["", "yesterday", "2026-11-01T00:00:00"])
def test_a_moment_that_is_none_has_no_file(at: str, operator: Client) -> None:
    assert operator.get(reverse("admin:payments_ledgerday_download"), {"at": at}).status_code == 404


def test_an_account_opens_with_its_balance_after_each_day_and_posting(
    operator: Client, shop: NewMerchant, month: str
) -> None:
    accounts = reverse("admin:payments_account_change", args=[shop.merchant.pk])
    assert account(shop) in text_of(operator.get(accounts))
    day = days_ago(40).date()
    days = text_of(operator.get(account(shop), {"month": month})).replace("\xa0", " ")
    assert account(shop, day) in days
    assert "₱1,191.20" in days
    postings = text_of(operator.get(account(shop, day))).replace("\xa0", " ")
    assert postings.index("₱1,234.56") < postings.index("₱1,191.20")


@pytest.mark.parametrize(
    "address", ["live/XXX/fees/", "maybe/PHP/fees/", "live/PHP/rent/", "live/PHP/fees/2026-02-31/"]
)
def test_an_account_that_is_none_has_no_page(address: str, operator: Client, shop: NewMerchant) -> None:
    accounts = reverse("admin:payments_account_change", args=[shop.merchant.pk]).removesuffix("change/")
    assert operator.get(accounts + address).status_code == 404
