"""A merchant that was closed takes nothing by pages either; what is under way ends."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from customers.models import Customer
from payments import clock
from payments.domain.checkout import links, requests
from payments.domain.payer_messages import send
from payments.domain.shared.errors import PaymentError
from payments.models import Charge, Checkout, Merchant, PayerMessage
from payments.providers.simulator import books
from payments.providers.simulator.models import SimulatedPayment
from payments.tasks import run_sweep
from tests.checkout import shelf
from tests.checkout.cast import (
    SAVE_CARD,
    SETUP,
    SUBSCRIPTION,
    billed,
    opened,
    pay,
    pay_by_wallet,
    row_of,
    save,
)
from tests.client import APPROVED, CHALLENGED, Api
from tests.pages.checkout_page import CARD
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db
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
    send.send_mails()
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
