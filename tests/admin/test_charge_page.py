"""The top of a charge's page: who paid, for what, the money, the checks, and a possible duplicate."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, Charge, Refund
from tests.admin.conftest import House, text_of, words_of
from tests.admin.test_pages import page_of
from tests.client import ANSWER_LOST, APPROVED, CARD_FIELDS, CHALLENGED, DECLINED, REFUNDS_WAIT, Api, made
from tests.contract.calls import debit
from tests.contract.charges.test_charges import verify
from tests.ledger.books import settle
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db


def row_of(charge: dict[str, Any]) -> Charge:
    return Charge.objects.get(pk=charge["id"].removeprefix("ch_"))


def page(operator: Client, charge: dict[str, Any]) -> str:
    return unescape(words_of(operator.get(page_of(row_of(charge))))).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.long
def test_the_page_says_who_paid_whom_for_what_and_what_is_left(house: House, operator: Client) -> None:
    settle()
    text = page(operator, house.charge)
    for shown in (
        "Payer Juan dela Cruz",
        "Paid to Sari Store by Visa 7726",
        "Merchant Sari Store",
        "Order Halo-halo",
        "table 7",
        "Captured ₱1,234.50",
        "Net to Sari Store ₱",
        "Settled",
        "Security code Matched Address: not checked",
        "3-D Secure Not asked for",
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
        "juan@example.com 63 917 123 4567 12 Session Road, 2600 Baguio, PH",
        "Ship to Maria Cruz, 63 2 8123 4567, 7 Mabini Street, 2600 Baguio, PH",
    ):
        assert shown in text, shown


def test_what_is_shipped_to_the_payer_is_shown_once(api: Api, operator: Client) -> None:
    charge = api.charge_source(api.wallet(owner={"billing": BILLING, "shipping": BILLING}))
    text = page(operator, charge)
    assert "Payer Juan dela Cruz" in text
    assert "Ship to" not in text


def test_an_address_that_came_with_the_card_is_shown(api: Api, operator: Client) -> None:
    card = {**CARD_FIELDS, "number": APPROVED, "address_line1": "7 Mabini Street", "address_zip": "2600"}
    assert "7 Mabini Street, 2600" in page(operator, api.charge_source(api.source(card=card)))


def test_the_account_of_a_debit_is_shown(api: Api, operator: Client) -> None:
    charge = debit(api)
    account = made(verify(api, charge))["source"]["bank_account"]
    text = page(operator, charge)
    assert f"Paid with BPI {account['account_number'][-4:]} Juan dela Cruz, BOPIPHMM" in text


def test_who_may_not_see_sources_sees_no_contact(api: Api) -> None:
    charge = api.charge_source(api.source(APPROVED, owner={"billing": BILLING}))
    eva = User.objects.create(username="eva", is_staff=True)
    eva.user_permissions.set(Permission.objects.filter(codename__in=["view_charge", "work_for_all_merchants"]))
    client = Client()
    client.force_login(eva)
    text = page(client, charge)
    assert "Paid with" in text
    assert "juan@example.com" not in text.partition("What happened")[0]


def test_the_customer_is_named_among_who_paid(house: House, api: Api, operator: Client) -> None:
    made(api.put(f"/customers/{house.customer['id']}", {"mobile_number": "+639171234567"}))
    kept = api.source(APPROVED)
    made(api.post(f"/customers/{house.customer['id']}/sources/", {"source": kept}))
    text = page(operator, api.charge_source(kept))
    assert "Customer Juan juan@example.com +639171234567" in text


@pytest.mark.long
@pytest.mark.parametrize(("decision", "shown"), [("pay", "3-D Secure Passed"), ("fail", "3-D Secure Failed")])
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
    assert "Address: 4 postal code matched" in text
    assert "ARN, authorize 74537604221431003881865" in text


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "options", "said", "in_filipino"),
    [
        (APPROVED, {}, "Your payment of ₱100.00 to Sari Store went through on", "Natuloy ang iyong bayad na ₱100.00"),
        (APPROVED, {"capture": False}, "₱100.00 is reserved for Sari Store", "Nakareserba ang ₱100.00"),
        (CHALLENGED, {}, "waits for you to confirm it", "Hinihintay pa na kumpirmahin mo"),
        (ANSWER_LOST, {}, "Please do not pay a second time.", "Huwag munang magbayad ulit."),
        (
            DECLINED,
            {},
            "Nothing was paid. Your bank declined the card. Contact your bank",
            "Tinanggihan ng iyong bangko",
        ),
    ],
)
def test_the_page_has_what_staff_may_say_to_the_payer_in_two_languages(
    api: Api, operator: Client, number: str, options: dict[str, Any], said: str, in_filipino: str
) -> None:
    text = page(operator, api.charge(number, 10_000, **options))
    assert said in text
    assert in_filipino in text


@pytest.mark.long
def test_what_went_back_and_what_is_on_its_way_is_said_with_no_number_of_days(api: Api, operator: Client) -> None:
    charge = api.charge(REFUNDS_WAIT, 10_000)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1_000}))
    assert "A refund of ₱10.00 is on its way." in page(operator, charge)
    Refund.objects.update(status=Refund.Status.SUCCEEDED)
    assert "₱10.00 of it was sent back on" in page(operator, charge)
    assert "may need some days until it shows the money. On your statement it reads" in page(operator, charge)


@pytest.mark.long
def test_a_second_equal_payment_with_the_same_card_is_pointed_out(api: Api, operator: Client) -> None:
    first, second = (api.charge(APPROVED, description="Halo-halo") for _ in range(2))
    for charge, other, word in ((first, second, "later"), (second, first, "earlier")):
        text = page(operator, charge)
        assert re.search(
            rf"Charged twice\? The same card paid [^.]+\.00 for the same thing .+ {word}\. captured Open", text
        )
        assert page_of(row_of(other)) in text_of(operator.get(page_of(row_of(charge))))


def test_the_three_nearest_duplicates_are_named_nearest_first(api: Api, operator: Client) -> None:
    now = clock.now()
    moments = [now - timedelta(seconds=seconds) for seconds in (300, 60, 40, 0, -20)]
    charges = []
    for moment in moments:
        with clock.at(moment):
            charges.append(api.charge(APPROVED))
    shown = text_of(operator.get(page_of(row_of(charges[3]))))
    assert re.findall('href="([^"]+)">Open the other', shown) == [page_of(row_of(charges[at])) for at in (4, 2, 1)]


@pytest.mark.long
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
        assert (b"data-refresh-seconds" in operator.get(page_of(row_of(charge))).content) == refreshes
