"""The page of a payment request: the invoice beside its payment, and what it says after its end."""

import pytest
from django.test import Client

from tests.checkout.cast import billed, shown
from tests.client import DECLINED, Api, made
from tests.pages.checkout_page import CARD
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db


def test_the_page_shows_the_invoice_and_the_ways_to_pay(client: Client, api: Api) -> None:
    request = billed(api, message="Salamat <b>po</b>!")
    text = client.get(path_of(request["payment_request_url"])).content.decode()
    for part in (
        request["number"],
        "juan@example.com",
        "Salamat &lt;b&gt;po&lt;/b&gt;!",
        "Halo-halo",
        "₱250.00",
        "GCash",
    ):
        assert part in text, part


def test_a_card_pays_the_invoice_and_the_page_says_so(client: Client, api: Api) -> None:
    request = billed(api)
    page = path_of(request["payment_request_url"])
    response = client.post(page, {"attempt": "0", **CARD, "number": "4000000000003055"})
    assert response["Location"] == request["payment_request_url"] + "/done"
    response = client.get(path_of(response["Location"]))
    assert response["Location"] == request["payment_request_url"]
    assert shown(api, request)["paid"]
    assert "Paid" in client.get(page).content.decode()


def test_a_declined_card_says_why_on_the_invoice(client: Client, api: Api) -> None:
    request = billed(api)
    page = path_of(request["payment_request_url"])
    response = client.post(page, {"attempt": "0", **CARD, "number": DECLINED})
    text = client.get(response["Location"]).content.decode()
    assert request["number"] in text
    assert "Nothing was paid." in text


def test_a_voided_request_says_that_nothing_is_to_be_paid(client: Client, api: Api) -> None:
    request = billed(api)
    made(api.post(f"/payment_requests/{request['id']}/void", {"reason": "Confidential"}))
    text = client.get(path_of(request["payment_request_url"])).content.decode()
    assert "This invoice was cancelled" in text
    assert "Confidential" not in text


def test_an_id_that_is_none_has_no_page(client: Client, db: None) -> None:
    assert client.get("/requests/pr_" + "0" * 32).status_code == 404
