"""Disputes in the back office: by deadline, on the page of their charge, and in the inbox."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id
from payments.inbox import rows
from payments.models import Charge, Dispute
from tests.admin.conftest import House, text_of
from tests.admin.test_pages import list_of, page_of
from tests.client import Api, made
from tests.disputes.stories import make_dispute
from tests.overview.test_dispute_rates import THIS_MONTH, made_charges, make_disputes

pytestmark = pytest.mark.long
INBOX = reverse("admin:inbox")


def test_the_page_of_a_charge_shows_its_disputes_and_what_the_bank_has(house: House, operator: Client) -> None:
    dispute = make_dispute(Charge.objects.get(), amount=1_000)
    text = text_of(operator.get(page_of(dispute.charge))).replace("\N{NO-BREAK SPACE}", " ")
    assert page_of(dispute) in text
    assert "Taken by the payer&#x27;s bank" in text
    assert "−₱10.00" in text


def test_money_that_the_bank_has_is_not_offered_to_be_given_back(api: Api, operator: Client) -> None:
    charge = Charge.objects.get(id=parse_id("ch", api.charge()["id"]))
    ways = [reverse(f"admin:payments_charge_{verb}", args=[charge.pk]) for verb in ("refund", "void")]
    before = text_of(operator.get(page_of(charge)))
    make_dispute(charge)
    after = text_of(operator.get(page_of(charge)))
    assert [(way in before, way in after) for way in ways] == [(True, False)] * 2


def test_the_page_of_a_dispute_shows_its_reason_deadline_and_events(house: House, operator: Client) -> None:
    text = text_of(operator.get(page_of(make_dispute(Charge.objects.get()))))
    assert [words in text for words in ("Needs response", "general", "dispute.created", "D1")] == [True] * 4


@pytest.mark.parametrize(("status", "found"), [("needs_response", True), ("won", False)])
def test_disputes_are_filtered_by_status(house: House, operator: Client, status: str, found: bool) -> None:
    dispute = make_dispute(Charge.objects.get())
    text = text_of(operator.get(list_of(Dispute), {"status": status})).partition("result_list")[2]
    assert (page_of(dispute) in text) == found


def test_a_dispute_to_answer_is_in_the_inbox_until_its_deadline(house: House, operator: Client) -> None:
    dispute = make_dispute(Charge.objects.get())
    text = text_of(operator.get(INBOX)).replace("\N{NO-BREAK SPACE}", " ")
    assert (page_of(dispute) in text, ">Disputed<" in text, "6 d 23 h left" in text) == (True, True, True)
    Dispute.objects.update(evidence_due_at=clock.now() - timedelta(seconds=1))
    assert page_of(dispute) not in text_of(operator.get(INBOX))


def test_the_first_to_be_due_is_the_first_to_answer(house: House) -> None:
    dispute = make_dispute(Charge.objects.get())
    assert list(rows.disputes_to_answer(None)) == [dispute]
    assert list(rows.disputes_to_answer([])) == []


def test_the_page_of_a_dispute_shows_what_its_merchant_has_sent(api: Api, operator: Client) -> None:
    dispute = make_dispute(Charge.objects.get(id=parse_id("ch", api.charge()["id"])))
    made(api.post(f"/disputes/{dispute}/evidence", {"type": "receipt", "text": "Signed by Juan"}))
    made(api.post(f"/disputes/{dispute}/submit"))
    text = text_of(operator.get(page_of(dispute))).replace("\N{NO-BREAK SPACE}", " ")
    assert [words in text for words in ("receipt: text/plain, 14 bytes", "Pending", "Signed by")] == [True, True, False]


def test_a_dispute_that_its_merchant_has_responded_to_is_not_in_the_inbox(api: Api, operator: Client) -> None:
    dispute = make_dispute(Charge.objects.get(id=parse_id("ch", api.charge()["id"])))
    made(api.post(f"/disputes/{dispute}/accept"))
    assert page_of(dispute) not in text_of(operator.get(INBOX))


def test_the_inbox_and_the_merchants_page_show_a_high_rate(
    shop: NewMerchant, operator: Client, settings: Settings
) -> None:
    settings.DISPUTE_WARNING = {"basis_points": 65, "disputes": 2}
    made_charges(shop.merchant, THIS_MONTH, 100)
    make_disputes(shop.merchant, THIS_MONTH, 2)
    page = reverse("admin:payments_merchant_change", args=[shop.merchant.pk])
    inbox = text_of(operator.get(INBOX)).replace("\N{NO-BREAK SPACE}", " ")
    assert ("2 disputes this month: 2.00 % of charges" in inbox, page in inbox) == (True, True)
    text = text_of(operator.get(page)).replace("\N{NO-BREAK SPACE}", " ")
    assert "2, ₱2.00; 2.00 % of 100 charges of the month" in text
