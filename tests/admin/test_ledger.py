import re

import pytest
from django.test import Client

from payments.domain.merchants import NewMerchant
from payments.models import Charge, Merchant, Posting, Settlement
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of, page_of
from tests.client import Api, made
from tests.ledger.books import charge_fees, row_of, settle


@pytest.fixture
def charge(api: Api, shop: NewMerchant) -> Charge:
    """Captured in part from a hold, settled, then refunded in part."""
    charge_fees(shop.merchant)
    held = api.held(123_450)
    made(api.post(f"/charges/{held['id']}/capture", {"amount": 100_000}))
    settle()
    made(api.post(f"/charges/{held['id']}/refund", {"amount": 25_000}))
    return row_of(held)


def cells(text: str, *columns: str) -> list[list[str]]:
    """What the rows of an inline show in these columns."""
    found = [re.findall(rf'field-{column}">\s*<p>(.*?)</p>', text, re.DOTALL) for column in columns]
    return [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row] for row in zip(*found, strict=True)]


def test_the_page_of_a_charge_shows_its_postings_in_their_order(operator: Client, charge: Charge) -> None:
    text = text_of(operator.get(page_of(charge)))
    assert cells(text[text.index('id="postings-group"') :], "kind", "account", "debit", "credit") == [
        ["Hold", "Provider Hold", "PHP 1,234.50", ""],
        ["Hold", "Merchant Hold", "", "PHP 1,234.50"],
        ["Capture", "Provider Receivable", "PHP 1,000.00", ""],
        ["Capture", "Merchant Pending", "", "PHP 1,000.00"],
        ["Fee", "Merchant Pending", "PHP 35.15", ""],
        ["Fee", "Fees", "", "PHP 35.15"],
        ["Release", "Merchant Hold", "PHP 1,234.50", ""],
        ["Release", "Provider Hold", "", "PHP 1,234.50"],
        ["Settle", "Merchant Payable", "", "PHP 964.85"],
        ["Settle", "Merchant Pending", "PHP 964.85", ""],
        ["Settle", "Bank", "PHP 1,000.00", ""],
        ["Settle", "Provider Receivable", "", "PHP 1,000.00"],
        ["Refund", "Merchant Payable", "PHP 250.00", ""],
        ["Refund", "Refunds In Transit", "", "PHP 250.00"],
        ["Refund Settled", "Refunds In Transit", "PHP 250.00", ""],
        ["Refund Settled", "Provider Receivable", "", "PHP 250.00"],
    ]


def test_the_page_of_a_charge_shows_its_rate_and_fee(operator: Client, charge: Charge) -> None:
    text = text_of(operator.get(page_of(charge))).replace("\N{NO-BREAK SPACE}", " ")
    assert "3.50 % + PHP 0.15" in text
    assert "PHP 35.15" in text


def test_a_settlement_shows_its_totals_and_leads_to_its_charges(operator: Client, charge: Charge) -> None:
    settlement = Settlement.objects.get()
    text = text_of(operator.get(page_of(settlement))).replace("\N{NO-BREAK SPACE}", " ")
    for amount in ("PHP 1,000.00", "PHP 35.15", "PHP 964.85", "1 in all"):
        assert amount in text
    assert page_of(charge) in text


def test_settlements_are_listed_with_what_they_moved(operator: Client, charge: Charge) -> None:
    text = text_of(operator.get(list_of(Settlement))).replace("\N{NO-BREAK SPACE}", " ")
    assert "PHP 1,000.00" in text
    assert "PHP 964.85" in text


def test_a_merchant_shows_its_balances_and_fees(operator: Client, charge: Charge, shop: NewMerchant) -> None:
    text = text_of(operator.get(page_of(shop.merchant))).replace("\N{NO-BREAK SPACE}", " ")
    assert "test: PHP 714.85 available, PHP 0.00 pending, PHP 0.00 held" in text
    assert "live: PHP 0.00 available" in text
    assert "card in PHP: 3.50 % + PHP 0.15" in text


@pytest.mark.parametrize("prefix", ["ch", "mer", "set", "journal"])
def test_postings_are_found_by_what_they_are_about(
    operator: Client, charge: Charge, api: Api, shop: NewMerchant, prefix: str
) -> None:
    posting = Posting.objects.get(kind="settle", account="bank")
    term = {
        "ch": str(charge),
        "mer": f"mer_{shop.merchant.id.hex}",
        "set": str(posting.settlement),
        "journal": str(posting.journal),
    }[prefix]
    assert page_of(posting) in text_of(operator.get(list_of(Posting), {"q": term}))
    nobodys = term[:-4] + ("0000" if term[-4:] != "0000" else "1111")
    assert page_of(posting) not in text_of(operator.get(list_of(Posting), {"q": nobodys}))


def test_a_settlement_is_found_by_a_charge_that_it_settled(operator: Client, charge: Charge) -> None:
    settlement = Settlement.objects.get()
    assert page_of(settlement) in text_of(operator.get(list_of(Settlement), {"q": str(charge)}))
    assert Merchant.objects.count() == 1
