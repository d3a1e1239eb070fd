"""The top of a charge's page: who paid, for what, the money, the checks, and a possible duplicate."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, Charge
from tests.admin.conftest import House, words_of
from tests.admin.test_pages import page_of
from tests.client import APPROVED, CARD_FIELDS, CHALLENGED, DECLINED, Api, made
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


BILLING = {
    "name": "Juan dela Cruz",
    "email": "juan@example.com",
    "phone_number": "63 917 123 4567",
    "line1": "12 Session Road",
    "city": "Baguio",
    "zip_code": "2600",
    "country": "PH",
}
SHIPPING = BILLING | {"name": "Maria Cruz", "phone_number": "63 2 8123 4567", "line1": "7 Mabini Street"}


def test_the_payer_s_e_mail_phone_and_addresses_are_on_the_page(api: Api, operator: Client) -> None:
    charge = api.charge_source(api.source(APPROVED, owner={"billing": BILLING, "shipping": SHIPPING}))
    text = page(operator, charge)
    for shown in (
        "E-mail juan@example.com",
        "Phone 63 917 123 4567",
        "Address 12 Session Road 2600 Baguio PH",
        "Ship to Maria Cruz 63 2 8123 4567 7 Mabini Street 2600 Baguio PH",
    ):
        assert shown in text, shown


def test_what_is_shipped_to_the_payer_is_shown_once(api: Api, operator: Client) -> None:
    charge = api.charge_source(api.wallet(owner={"billing": BILLING, "shipping": BILLING}))
    text = page(operator, charge)
    assert "Name Juan dela Cruz" in text
    assert "Ship to" not in text


def test_an_address_that_came_with_the_card_is_shown(api: Api, operator: Client) -> None:
    card = {**CARD_FIELDS, "number": APPROVED, "address_line1": "7 Mabini Street", "address_zip": "2600"}
    assert "Address 7 Mabini Street 2600" in page(operator, api.charge_source(api.source(card=card)))


def test_who_may_not_see_sources_sees_no_contact(api: Api) -> None:
    charge = api.charge_source(api.source(APPROVED, owner={"billing": BILLING}))
    eva = User.objects.create(username="eva", is_staff=True)
    eva.user_permissions.set(Permission.objects.filter(codename__in=["view_charge", "work_for_all_merchants"]))
    client = Client()
    client.force_login(eva)
    text = page(client, charge)
    assert "Paid with" in text
    assert "juan@example.com" not in text.partition("Timeline")[0]


def test_the_customer_is_named_among_who_paid(house: House, api: Api, operator: Client) -> None:
    made(api.put(f"/customers/{house.customer['id']}", {"mobile_number": "+639171234567"}))
    kept = api.source(APPROVED)
    made(api.post(f"/customers/{house.customer['id']}/sources/", {"source": kept}))
    text = page(operator, api.charge_source(kept))
    assert "Customer's e-mail juan@example.com" in text
    assert "Customer's phone +639171234567" in text


@pytest.mark.parametrize(("decision", "shown"), [("pay", "3-D Secure passed"), ("fail", "3-D Secure failed")])
def test_the_result_of_3_d_secure_is_shown(
    api: Api, operator: Client, client: Client, decision: str, shown: str
) -> None:
    charge = api.charge(CHALLENGED)
    back = client.post(path_of(charge["action"]["url"]), {"decision": decision})["Location"]
    client.get(path_of(back))
    assert shown in page(operator, charge)


def test_what_the_provider_said_of_checks_and_arn_is_shown(house: House, operator: Client) -> None:
    response = {"avsResult": "4 postal code matched", "acquirerReference": "74537604221431003881865"}
    Attempt.objects.filter(kind="authorize").update(response=response)
    text = page(operator, house.charge)
    assert "Address 4 postal code matched" in text
    assert "ARN, authorize 74537604221431003881865" in text


def test_a_second_equal_payment_with_the_same_card_is_pointed_out(api: Api, operator: Client) -> None:
    first, second = (api.charge(APPROVED, description="Halo-halo") for _ in range(2))
    for charge, other, word in ((first, second, "later"), (second, first, "earlier")):
        text = page(operator, charge)
        assert "Charged twice? The same card paid" in text
        assert f"{word}: {other['id']}" in text


def test_the_three_nearest_duplicates_are_named_nearest_first(api: Api, operator: Client) -> None:
    now = clock.now()
    moments = [now - timedelta(seconds=seconds) for seconds in (300, 60, 40, 0, -20)]
    charges = []
    for moment in moments:
        with clock.at(moment):
            charges.append(api.charge(APPROVED))
    named = re.findall("(?:earlier|later): (ch_[0-9a-f]{32})", page(operator, charges[3]))
    assert named == [charges[number]["id"] for number in (4, 2, 1)]


@pytest.mark.parametrize("undo", ["refund", "void"])
def test_a_payment_that_went_back_is_no_duplicate_and_has_none(api: Api, operator: Client, undo: str) -> None:
    charges = [api.charge(APPROVED) for _ in range(2)]
    made(api.post(f"/charges/{charges[0]['id']}/{undo}", {}))
    for charge in charges:
        assert "Charged twice?" not in page(operator, charge)


def test_other_things_other_cards_other_shops_and_failures_are_no_duplicates(
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
