"""What the page of a checkout shows of its order: languages, fields, hostile texts, addresses, receipts."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Checkout
from tests.checkout.cast import billed, opened, pay, shown
from tests.client import APPROVED, Api, made
from tests.pages.checkout_page import CARD, page_of, send, text_of
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db


def test_what_the_order_asks_for_is_asked_and_given_to_the_merchant(client: Client, api: Api) -> None:
    asks = {
        "customer_name_collection": True,
        "phone_number_collection": True,
        "billing_address_collection": "required",
        "shipping_address_collection": {"allowed_countries": ["PH", "SG"]},
    }
    session = opened(api, **asks)
    text = text_of(client, session)
    for name in ("name", "phone", "shipping-line1", "billing-line1", "same"):
        assert f'name="{name}"' in text, name
    address = {"shipping-name": "Maria", "shipping-line1": "24 Mabini Street", "shipping-city": "Singapore"}
    send(client, session, name="Maria Peña", phone="0917 555 0142", same="1", **{**address, "shipping-country": "SG"})
    paid = shown(api, session)
    assert (paid["customer_name"], paid["customer_phone"]) == ("Maria Peña", "0917 555 0142")
    assert paid["shipping"] == paid["billing"]
    assert paid["shipping"]["country"] == "SG"


def test_one_way_to_pay_needs_no_choice(client: Client, api: Api) -> None:
    session = opened(api, payment_method_types=["card"])
    assert 'class="ways only"' in text_of(client, session)


def test_a_bank_that_the_order_names_is_chosen(client: Client, api: Api) -> None:
    session = opened(api, payment_method_types=["card", "bpi"], bank_code="BPI")
    assert 'value="bpi" checked' in text_of(client, session)


def test_a_wallet_with_a_former_name_is_one_way_to_pay(api: Api, client: Client) -> None:
    texts = [
        text_of(client, opened(api, payment_method_types=names))
        for names in (["card", "maya", "paymaya"], ["card", "paymaya"])
    ]
    assert [('value="maya"' in text, 'value="paymaya"' in text) for text in texts] == [(True, False), (False, True)]


@pytest.mark.parametrize(
    ("locale", "word"), [("fil", "Paano mo gustong magbayad?"), ("en", "How would you like to pay?")]
)
def test_the_order_names_the_language(client: Client, api: Api, locale: str, word: str) -> None:
    assert word in text_of(client, opened(api, locale=locale), **{"Accept-Language": "de"})


def test_the_payer_chooses_the_language(client: Client, api: Api) -> None:
    session = opened(api)
    assert 'href="?lang=fil"' in text_of(client, session)
    text = client.get(f"{page_of(session)}?lang=fil").content.decode()
    assert "Magbayad ng ₱250.00" in text
    response = client.post(f"{page_of(session)}?lang=fil", {**CARD, "number": "", "attempt": "0"})
    assert "Pakisuri ang 1 kahon" in response.content.decode()


def test_the_shop_s_contact_and_the_order_s_own_colours_are_shown(client: Client, api: Api, shop: NewMerchant) -> None:
    shop.merchant.branding = {"brand_color": "#ffe600"}
    shop.merchant.support_email, shop.merchant.support_phone = "help@sari.example", "+63 917 555 0142"
    shop.merchant.save()
    assert "--primary: #ffe600;" in text_of(client, opened(api))
    text = text_of(client, opened(api, branding={"primary_color": "#17362f", "secondary_color": "#c2410c"}))
    for part in ("--primary: #17362f;", "--secondary: #c2410c;", "mailto:help@sari.example", "tel:+63"):
        assert part in text, part


HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202eCHEAP\u202c \u200f",
    "one\ntwo\r\nthree",
    "{{ amount }} {% now %}",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_stays_a_name(client: Client, api: Api, text: str) -> None:
    item = {"name": text, "amount": 100, "quantity": 1, "description": text}
    page = text_of(client, opened(api, line_items=[item], description=text))
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    # A text of others has its own direction, and cannot turn that of an amount around.
    assert page.count('<bdi dir="auto">') >= 3
    assert "₱1.00" in page


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "ftp://shop.example"])
def test_a_link_to_the_shop_leads_to_a_web_page_only(client: Client, api: Api, url: str) -> None:
    session = opened(api)
    row = Checkout.objects.get()
    row.order = row.order | {"cancel_url": url, "success_url": url}
    Checkout.objects.update(order=row.order)
    assert url not in text_of(client, session)
    pay(session)
    assert url not in text_of(client, session)
    assert client.get(f"{page_of(session)}/done")["Location"] == session["payment_url"]


def test_a_session_that_names_itself_does_so_in_both_addresses(client: Client, api: Api) -> None:
    urls = {"cancel_url": "https://shop.example/cart?x=1#end", "success_url": "https://shop.example/thanks"}
    session = opened(api, **urls)
    row = Checkout.objects.get()
    Checkout.objects.update(order=row.order | {"names_session": True})
    assert f"https://shop.example/cart?x=1&amp;session_id={session['id']}#end" in text_of(client, session)
    pay(session)
    done = client.get(f"{page_of(session)}/done")["Location"]
    assert done == f"https://shop.example/thanks?session_id={session['id']}"


def test_the_page_runs_its_own_script_only(client: Client, api: Api) -> None:
    response = client.get(page_of(opened(api)))
    policy = dict(part.strip().partition(" ")[::2] for part in response["Content-Security-Policy"].split(";"))
    assert policy["script-src"] == "'self'"
    assert "unsafe" not in response["Content-Security-Policy"]
    assert not re.search(r"<script(?! src=)|style=|\son\w+=", response.content.decode())
    assert (response["Cache-Control"], response["Referrer-Policy"]) == ("no-store", "no-referrer")


def test_a_page_that_only_ends_runs_no_script(client: Client, api: Api) -> None:
    session = opened(api)
    pay(session)
    assert "script-src" not in client.get(page_of(session))["Content-Security-Policy"]


@pytest.mark.parametrize("token", ["nothing", f"cs_{'0' * 32}", f"ch_{'0' * 32}", "é"])
@pytest.mark.parametrize("end", ["", "/done"])
def test_an_unknown_session_is_a_friendly_404(client: Client, token: str, end: str) -> None:
    response = client.get(f"/checkout/{token}{end}")
    assert response.status_code == 404
    assert "There is no payment at this address" in response.content.decode()


def test_each_address_opens_its_own_kind_only(client: Client, api: Api) -> None:
    invoice, session = billed(api), opened(api)
    for end in ("", "/done", "/receipt"):
        assert client.get(f"/checkout/{invoice['id']}{end}").status_code == 404
        assert client.get(f"/requests/{session['id']}{end}").status_code == 404


def test_the_bank_s_page_keeps_the_language_and_the_colours_of_the_order(client: Client, api: Api) -> None:
    session = opened(api, locale="fil", branding={"primary_color": "#123456"})
    asked = path_of(send(client, session, way="gcash")["Location"])
    text = client.get(asked).content.decode()
    assert '<html lang="fil">' in text
    assert "--primary: #123456" in text


def test_an_address_that_opens_pages_without_end_is_answered_briefly(api: Api, settings: Settings) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "2/year"
    page = page_of(opened(api))
    payer, other = Client(REMOTE_ADDR="203.0.113.9"), Client(REMOTE_ADDR="203.0.113.10")
    assert [payer.get(page).status_code for _ in range(3)] == [200, 200, 429]
    assert other.get(page).status_code == 200


def test_the_page_can_be_sent_without_a_cookie(api: Api) -> None:
    assert send(Client(enforce_csrf_checks=True), opened(api)).status_code == 303


def invoice_of(client: Client, invoice: dict[str, Any]) -> str:
    return client.get(path_of(invoice["payment_request_url"])).content.decode()


def test_a_request_shows_the_invoice_beside_its_payment(client: Client, api: Api) -> None:
    invoice = billed(api, message="Thank you,\nMaria!")
    text = invoice_of(client, invoice)
    for part in (invoice["number"], "Halo-halo", "Thank you,\nMaria!", invoice["customer_email"], "Pay ₱250.00"):
        assert part in text, part


def test_a_request_is_paid_on_its_page_which_then_says_so(client: Client, api: Api) -> None:
    invoice = billed(api)
    path = path_of(invoice["payment_request_url"])
    done = client.post(path, {"attempt": "0", **CARD, "number": APPROVED})["Location"]
    assert client.get(path_of(done))["Location"] == invoice["payment_request_url"]
    assert "your payment went through" in invoice_of(client, invoice)
    assert shown(api, invoice)["paid"] is True


def test_a_request_that_was_voided_asks_for_nothing(client: Client, api: Api) -> None:
    invoice = billed(api)
    made(api.post(f"/payment_requests/{invoice['id']}/void", {"reason": "A secret of the shop"}))
    text = invoice_of(client, invoice)
    assert "This invoice was cancelled" in text
    assert invoice["number"] in text
    assert "A secret of the shop" not in text
    assert 'name="number"' not in text


def test_a_receipt_can_be_saved_as_one_file(client: Client, api: Api) -> None:
    session = opened(api)
    pay(session)
    assert f'href="{session["payment_url"]}/receipt" download' in text_of(client, session)
    response = client.get(f"{page_of(session)}/receipt")
    text = response.content.decode()
    assert re.fullmatch(r'attachment; filename="receipt-[0-9A-F]{8}\.html"', response["Content-Disposition"])
    for part in ("Sari Store", "Halo-halo", "₱250.00", "Card ending in 3055", "--paid-ground"):
        assert part in text, part
    assert not re.search(r'<(link rel="stylesheet"|script|a )', text)


def test_there_is_no_receipt_of_what_was_not_paid(client: Client, api: Api) -> None:
    assert client.get(f"{page_of(opened(api))}/receipt").status_code == 404
