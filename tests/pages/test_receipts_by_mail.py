"""A payer who has paid sends the receipt to an address of their own, once."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from payments.domain.messages.to_payers import send_due
from payments.models import PayerMessage
from tests.checkout.cast import billed, opened, pay
from tests.client import Api
from tests.pages.checkout_page import page_of, text_of
from tests.pages.waiting_charges import awaited, path_of
from tests.pages.waiting_charges import page_of as page_of_charge

pytestmark = pytest.mark.django_db
OFFER, DONE = "E-mail it", "The receipt is on its way"


def ask(client: Client, session: dict[str, Any], email: str) -> HttpResponse:
    return client.post(f"{page_of(session)}/receipt", {"email": email})


def invoiced(api: Api) -> dict[str, Any]:
    request = billed(api)
    return request | {"payment_url": request["payment_request_url"]}


@pytest.mark.parametrize("make", [opened, invoiced])
def test_a_payer_gets_the_receipt_by_mail(client: Client, api: Api, make: Any) -> None:
    session = make(api)
    pay(session)
    assert OFFER in text_of(client, session)
    assert ask(client, session, " maria@example.com ")["Location"].endswith(page_of(session))
    send_due()
    message = PayerMessage.objects.get(kind="receipt")
    assert (message.recipient, message.state, "₱250.00" in message.text) == ("maria@example.com", "kept", True)
    text = text_of(client, session)
    assert (DONE in text, OFFER in text, "maria@example.com" in text) == (True, False, False)


def test_only_the_first_address_gets_it(client: Client, api: Api) -> None:
    session = opened(api)
    pay(session)
    for name in ("maria", "juan"):
        assert ask(client, session, f"{name}@example.com").status_code == 303
    assert PayerMessage.objects.get().recipient == "maria@example.com"


@pytest.mark.parametrize("email", ["", "maria@", "4242424242424242@example.com", f"{'a' * 250}@example.com"])
def test_what_is_no_address_is_explained_beside_the_field(client: Client, api: Api, email: str) -> None:
    session = opened(api)
    pay(session)
    refused = ask(client, session, email)
    assert (refused.status_code, b'aria-describedby="f-email-note"' in refused.content) == (422, True)
    assert not PayerMessage.objects.exists()


def test_what_is_not_paid_has_none(client: Client, api: Api) -> None:
    assert ask(client, opened(api), "maria@example.com").status_code == 404


def test_in_live_mode_it_is_offered_where_there_is_a_mail_server(client: Client, api: Api, settings: Settings) -> None:
    session = opened(api)
    charge = pay(session)
    settings.EMAIL_HOST = ""
    for table in (type(charge.checkout), type(charge)):
        table.objects.update(livemode=True)
    assert OFFER not in text_of(client, session)
    assert ask(client, session, "maria@example.com").status_code == 303
    assert not PayerMessage.objects.exists()


def ended(client: Client, api: Api, **members: Any) -> str:
    """Return the path of the page that ends the payment of a charge without an address to return to."""
    charge = awaited(api, "card", redirect=None, **members)
    return path_of(client.post(page_of_charge(charge), {"decision": "pay"})["Location"])


def test_a_payer_without_a_shop_to_return_to_gets_the_receipt_as_file_and_mail(client: Client, api: Api) -> None:
    back = ended(client, api)
    assert OFFER in client.get(back).content.decode()
    saved = client.get(f"{back}/receipt")
    assert (saved["Content-Disposition"][:19], b"<style>" in saved.content) == ("attachment; filenam", True)
    assert client.post(f"{back}/receipt", {"email": "maria@"}).status_code == 422
    assert client.post(f"{back}/receipt", {"email": "maria@example.com"})["Location"].endswith(back)
    assert PayerMessage.objects.get(kind="receipt").recipient == "maria@example.com"
    assert DONE in client.get(back).content.decode()


def test_an_amount_that_is_only_reserved_has_no_receipt_yet(client: Client, api: Api) -> None:
    back = ended(client, api, capture=False)
    assert "the amount is reserved" in client.get(back).content.decode()
    assert client.get(f"{back}/receipt").status_code == 404
