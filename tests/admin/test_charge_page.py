"""The top of a charge's page: who paid, for what, the money, the checks, and a likely twin."""

from html import unescape

import pytest
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, Charge
from tests.admin.conftest import House, words_of
from tests.admin.test_pages import page_of
from tests.client import APPROVED, CHALLENGED, DECLINED, Api, made
from tests.ledger.books import settle
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db


def page(operator: Client, charge: dict[str, object]) -> str:
    row = Charge.objects.get(pk=str(charge["id"]).removeprefix("ch_"))
    return unescape(words_of(operator.get(page_of(row)))).replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_who_paid_whom_for_what_and_what_is_left(house: House, operator: Client) -> None:
    settle()
    text = page(operator, house.charge)
    for shown in (
        "Name Juan dela Cruz",
        "visa 7726",
        "To Sari Store",
        "For Halo-halo",
        "table 7",
        "Captured PHP 1,234.50",
        "Net PHP",
        "Settled",
        "CVC matched",
        "3-D Secure not asked for",
        "Address not checked",
    ):
        assert shown in text, shown


def test_the_customer_is_named_among_who_paid(house: House, api: Api, operator: Client) -> None:
    kept = api.source(APPROVED)
    made(api.post(f"/customers/{house.customer['id']}/sources/", {"source": kept}))
    assert "Customer's e-mail juan@example.com" in page(operator, api.charge_source(kept))


@pytest.mark.parametrize(("decision", "shown"), [("pay", "3-D Secure passed"), ("fail", "3-D Secure failed")])
def test_the_result_of_3_d_secure_is_shown(
    api: Api, operator: Client, client: Client, decision: str, shown: str
) -> None:
    charge = api.charge(CHALLENGED)
    back = client.post(path_of(charge["action"]["url"]), {"decision": decision})["Location"]
    client.get(path_of(back))
    assert shown in page(operator, charge)


def test_what_the_provider_said_of_checks_and_arn_is_shown(house: House, operator: Client) -> None:
    said = {"avsResult": "4 postal code matched", "acquirerReference": "74537604221431003881865"}
    Attempt.objects.filter(kind="authorize").update(response=said)
    text = page(operator, house.charge)
    assert "Address 4 postal code matched" in text
    assert "ARN, authorize 74537604221431003881865" in text


def test_a_second_equal_payment_with_the_same_card_is_pointed_out(api: Api, operator: Client) -> None:
    first, second = (api.charge(APPROVED, description="Halo-halo") for _ in range(2))
    for charge, twin, word in ((first, second, "later"), (second, first, "earlier")):
        text = page(operator, charge)
        assert "Charged twice? The same card paid" in text
        assert f"{word}: {twin['id']}" in text


def test_other_things_other_cards_other_shops_and_failures_are_no_twins(
    api: Api, other_shop: NewMerchant, operator: Client
) -> None:
    charge = api.charge(APPROVED, description="Halo-halo")
    api.charge(APPROVED, description="Taho")
    api.charge(APPROVED, description="Halo-halo", amount=9_900)
    api.charge(DECLINED, description="Halo-halo")
    Api(other_shop.keys["sk_test"]).charge(APPROVED, description="Halo-halo")
    assert "Charged twice?" not in page(operator, charge)


def test_a_pending_charge_s_page_refreshes_itself_and_a_final_one_does_not(api: Api, operator: Client) -> None:
    for charge, refreshes in ((api.charge(CHALLENGED), True), (api.charge(APPROVED), False)):
        row = Charge.objects.get(pk=charge["id"].removeprefix("ch_"))
        assert (b"data-refresh-seconds" in operator.get(page_of(row)).content) == refreshes
