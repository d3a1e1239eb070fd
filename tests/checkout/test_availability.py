"""Which orders and ways to pay a provider can take, and that a merchant who was closed takes nothing."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from customers.models import Customer
from payments import clock
from payments.domain.checkout import links, requests
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.messages import to_payers
from payments.domain.shared.errors import PaymentError
from payments.models import Charge, Checkout, Merchant, PayerMessage, PaymentLink, Route
from payments.providers.base import Capabilities
from payments.providers.simulator import books
from payments.providers.simulator.models import SimulatedPayment
from payments.tasks import run_sweep
from tests.checkout import cast, shelf
from tests.checkout.cast import (
    SAVE_CARD,
    SETUP,
    SUBSCRIPTION,
    billed,
    customer,
    opened,
    pay,
    pay_by_wallet,
    row_of,
    save,
)
from tests.client import APPROVED, CHALLENGED, Api, error_of, made
from tests.pages.checkout_page import CARD
from tests.pages.waiting_charges import path_of
from tests.routing.doubles import Psp, account_at, installed, route_to

pytestmark = pytest.mark.django_db
PRICE = 25_000


@pytest.fixture
def live(shop: NewMerchant, settings: Any) -> Iterator[Api]:
    """Yield the API in live mode, where a provider takes 10,000 to 20,000 of a card and more by a wallet."""
    settings.LIVE_CARDS_ATTESTED = True
    with installed(Psp("north")) as psp:
        psp.able = Capabilities(hold=False, amounts={"PHP": (100, 100_000)})
        account = account_at(psp, shop.merchant)
        route_to(account, "card", currency="PHP", amount_min=10_000, amount_max=20_000)
        route_to(account, "gcash", currency="PHP", position=2)
        yield Api(shop.keys["sk_live"])


def ordered(api: Api, amount: int, **members: Any) -> dict[str, Any]:
    return {**cast.ORDER, "line_items": [{"name": "Kit", "amount": amount, "quantity": 1}], **members}


def session(api: Api, amount: int, **members: Any) -> Any:
    return api.post("/checkout_sessions/", ordered(api, amount, **members))


def request(api: Api, amount: int, **members: Any) -> Any:
    order = ordered(api, amount, **members)
    wanted = {name: order[name] for name in ("currency", "line_items", "payment_method_types")}
    return api.post("/payment_requests/", wanted | {"customer": customer(api), "delivery_methods": ["email"]})


def link(api: Api, amount: int, **members: Any) -> Any:
    order = ordered(api, amount, **members)
    wanted = {name: order[name] for name in ("currency", "line_items", "payment_method_types")}
    return api.post("/payment_links/", shelf.ORDER | wanted)


@pytest.mark.parametrize("make", [session, request, link])
@pytest.mark.parametrize(
    ("amount", "members", "param"),
    [
        (200_000, {}, "line_items"),
        (PRICE, {"payment_method_types": ["card"]}, "line_items"),
        (PRICE, {"currency": "usd"}, "currency"),
    ],
)
def test_what_no_provider_can_take_is_refused_before_anybody_comes(
    live: Api, make: Callable[..., Any], amount: int, members: dict[str, Any], param: str
) -> None:
    response = make(live, amount, **members)
    assert (response.status_code, error_of(response)["code"], error_of(response)["param"]) == (
        *(422, "not_available"),
        param,
    )
    assert response.json()["message"]
    assert not Checkout.objects.exists()
    assert not PaymentLink.objects.exists()


def test_an_amount_that_no_provider_holds_is_refused(live: Api) -> None:
    response = session(live, 15_000, mode="setup", payment_method_types=["card"])
    assert (response.status_code, error_of(response)["code"], error_of(response)["param"]) == (
        *(422, "not_available"),
        "mode",
    )
    saved = session(live, 15_000, mode="save_card", payment_method_types=["card"], line_items=None)
    assert saved.status_code == 201


def test_a_way_that_cannot_take_the_amount_is_left_off_the_page(client: Client, live: Api) -> None:
    text = client.get(path_of(made(session(live, PRICE))["payment_url"])).content.decode()
    assert ("GCash" in text, 'name="number"' in text) == (True, False)
    text = client.get(path_of(made(session(live, 15_000))["payment_url"])).content.decode()
    assert ("GCash" in text, 'name="number"' in text) == (True, True)


def test_a_link_is_taken_where_some_of_its_totals_are(client: Client, live: Api) -> None:
    sold = made(live.post("/payment_links/", shelf.ORDER | {"payment_method_types": ["card"]}))
    page = path_of(sold["url"])
    assert "This total cannot be paid" in client.post(page, {"quantity-1": "1"}).content.decode()
    assert client.post(page, {"quantity-0": "1"}).status_code == 303
    refused = live.put(f"/payment_links/{sold['id']}", {"line_items": [{"name": "A", "amount": 90_000, "quantity": 2}]})
    assert (refused.status_code, error_of(refused)["code"]) == (422, "not_available")


def test_a_way_that_was_taken_away_since_is_refused_in_words(client: Client, live: Api) -> None:
    page = path_of(made(session(live, PRICE))["payment_url"])
    Route.objects.filter(source_type="gcash").update(amount_max=1_000)
    response = client.post(page, {"attempt": "0", "way": "gcash"})
    assert (response.status_code, "This way to pay is not available now" in response.content.decode()) == (422, True)


WORDS = {"en": "This shop takes no payments any more", "fil": "Hindi na tumatanggap ng bayad ang tindahang ito"}


def close() -> None:
    Merchant.objects.update(status="closed")


def assert_closed(client: Client, page: str) -> None:
    """Assert that a page takes nothing and says so in both languages."""
    for language, words in WORDS.items():
        answer = client.get(page, {"lang": language})
        assert (answer.status_code, words in answer.content.decode()) == (410, True)


@pytest.mark.parametrize("mode", [{}, SETUP, SUBSCRIPTION, SAVE_CARD], ids=["payment", "setup", "subscription", "save"])
def test_a_session_of_a_closed_merchant_takes_nothing_and_says_so(
    api: Api, client: Client, mode: dict[str, Any]
) -> None:
    session = opened(api, **mode)
    close()
    page = path_of(session["payment_url"])
    assert_closed(client, page)
    answer = client.post(page, {"attempt": "0", **CARD, "number": APPROVED, "email": "maria@example.com"})
    assert (answer.status_code, answer["Location"]) == (303, session["payment_url"])
    with pytest.raises(PaymentError, match="closed"):
        (save if mode is SAVE_CARD else pay)(session)
    assert not SimulatedPayment.objects.exists()
    assert not Customer.objects.exists()


def test_a_request_of_a_closed_merchant_takes_nothing_and_says_so(api: Api, client: Client) -> None:
    request = billed(api)
    close()
    assert_closed(client, path_of(request["payment_request_url"]))
    with pytest.raises(PaymentError, match="closed"):
        pay(request)


def test_a_link_of_a_closed_merchant_sells_nothing_and_says_so(api: Api, client: Client) -> None:
    link = shelf.linked(api)
    payment = shelf.open_payment(link, 1, 1)
    close()
    page = path_of(link["url"])
    assert_closed(client, page)
    assert client.post(page, {"quantity-0": "1"}).status_code == 410
    with pytest.raises(PaymentError):
        links.open_payment(shelf.link_row(link), [1, 0])
    with pytest.raises(PaymentError, match="closed"):
        shelf.pay(payment)


def test_no_message_asks_for_money_for_a_closed_merchant(api: Api) -> None:
    Merchant.objects.update(send_receipts=True)
    request = billed(api)
    close()
    with clock.at(clock.now() + timedelta(days=4)):
        assert requests.remind_due() == 1
    to_payers.send_due()
    assert list(PayerMessage.objects.values_list("kind", "state")) == [("request", "dropped")]
    with pytest.raises(PaymentError, match="closed"):
        requests.resend_for_operator(row_of(request))


def test_what_is_under_way_at_a_closed_merchant_ends(api: Api) -> None:
    session, request, saving = opened(api), billed(api), opened(api, **SAVE_CARD)
    pay_by_wallet(session)
    pay(request, CHALLENGED)
    save(saving, CHALLENGED, email="maria@example.com")
    close()
    for payment in SimulatedPayment.objects.all():
        books.approve(payment, send_message=True)
    run_sweep("apply_simulator_messages")
    assert set(Checkout.objects.values_list("state", flat=True)) == {"paid"}
    assert set(Charge.objects.values_list("status", flat=True)) == {"succeeded"}
