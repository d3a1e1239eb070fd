import pytest
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Charge, Merchant, Posting, Settlement
from tests.admin.conftest import text_of, words_of
from tests.admin.test_pages import list_of, page_of
from tests.client import Api, made
from tests.ledger.books import charge_fees, row_of, settle


@pytest.fixture
def charge(api: Api, shop: NewMerchant) -> Charge:
    """Return a charge captured in part from a hold, settled, then refunded in part."""
    charge_fees(shop.merchant)
    held = api.held(123_450)
    made(api.post(f"/charges/{held['id']}/capture", {"amount": 100_000}))
    settle()
    made(api.post(f"/charges/{held['id']}/refund", {"amount": 25_000}))
    return row_of(held)


def test_the_page_of_a_charge_shows_its_postings_in_their_order(operator: Client, charge: Charge) -> None:
    text = words_of(operator.get(page_of(charge)))
    journals = [
        "Posted: hold Ledger provider hold debit ₱1,234.50 merchant hold credit ₱1,234.50",
        "Posted: capture, fee, release Ledger"
        " provider receivable debit ₱1,000.00 merchant pending credit ₱1,000.00"
        " merchant pending debit ₱35.15 fees credit ₱35.15"
        " merchant hold debit ₱1,234.50 provider hold credit ₱1,234.50",
        "Posted: settle Ledger merchant payable credit ₱964.85 merchant pending debit ₱964.85"
        " bank debit ₱1,000.00 provider receivable credit ₱1,000.00",
        "Posted: refund Ledger merchant payable debit ₱250.00 refunds in transit credit ₱250.00",
        "Posted: refund settled Ledger refunds in transit debit ₱250.00 provider receivable credit ₱250.00",
    ]
    places = [text.find(journal) for journal in journals]
    assert -1 not in places
    assert places == sorted(places)


def test_the_page_of_a_charge_shows_its_rate_and_fee(operator: Client, charge: Charge) -> None:
    text = text_of(operator.get(page_of(charge))).replace("\N{NO-BREAK SPACE}", " ")
    assert "3.50 % + ₱0.15" in text
    assert "₱35.15" in text


def test_a_settlement_shows_its_totals_and_leads_to_its_charges(operator: Client, charge: Charge) -> None:
    settlement = Settlement.objects.get()
    text = text_of(operator.get(page_of(settlement))).replace("\N{NO-BREAK SPACE}", " ")
    for amount in ("₱1,000.00", "₱35.15", "₱964.85", "1 in all"):
        assert amount in text
    assert page_of(charge) in text


def test_settlements_are_listed_with_what_they_moved(operator: Client, charge: Charge) -> None:
    text = text_of(operator.get(list_of(Settlement))).replace("\N{NO-BREAK SPACE}", " ")
    assert "₱1,000.00" in text
    assert "₱964.85" in text


def test_a_merchant_shows_its_balances_and_fees(operator: Client, charge: Charge, shop: NewMerchant) -> None:
    text = words_of(operator.get(page_of(shop.merchant)))
    assert "Balances test: ₱714.85 available Fees" in text
    assert "live: ₱0.00" not in text
    assert "Card 3.50 % + ₱0.15" in text


@pytest.mark.long
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
