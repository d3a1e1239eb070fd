"""The page of a checkout session: what it shows in each state, and where each answer leads."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Checkout
from payments.models.checkout.checkout import ATTEMPTS_MAX
from tests.checkout.cast import SETUP, billed, charges_of, opened, pay, pay_by_wallet, shown
from tests.client import APPROVED, CHALLENGED, DECLINED, NEVER_ARRIVES, Api, made
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db

CARD = {"way": "card", "expiry": "12/39", "cvc": "123", "holder": "Maria Santos"}
INSUFFICIENT = "4000000000009995"


def page_of(session: dict[str, Any]) -> str:
    """Return the path of the session's page."""
    return path_of(session["payment_url"])


def text_of(client: Client, session: dict[str, Any], status: int = 200, **headers: str) -> str:
    """Return the page of a session as a browser gets it."""
    response = client.get(page_of(session), headers=headers)
    assert response.status_code == status
    return response.content.decode()


def send(client: Client, session: dict[str, Any], number: str = APPROVED, **fields: Any) -> HttpResponse:
    """Send the form as it is shown first, with a card."""
    return client.post(page_of(session), {"attempt": "0", **CARD, "number": number, **fields})


def test_the_page_shows_order_total_and_ways_to_pay(client: Client, api: Api) -> None:
    session = opened(api, submit_type="book", description="Table 7")
    text = text_of(client, session)
    for part in ("Sari Store", "Halo-halo", "2 × ₱125.00", "Book for ₱250.00", "Table 7", "GCash", "cc-number"):
        assert part in text, part
    assert f'href="{session["cancel_url"]}"' in text


def test_a_card_pays_and_the_payer_goes_to_the_shop(client: Client, api: Api) -> None:
    session = opened(api, success_url="https://shop.example/thanks?s={CHECKOUT_SESSION_ID}")
    response = send(client, session, number="4000 0000 0000 3055")
    assert (response.status_code, response["Location"]) == (303, session["payment_url"] + "/done")
    response = client.get(path_of(response["Location"]))
    assert (response.status_code, response["Location"]) == (303, f"https://shop.example/thanks?s={session['id']}")
    paid = shown(api, session)
    assert (paid["payment_status"], paid["payment_details"]["amount"]) == ("paid", 25_000)


def test_the_amount_is_never_the_form_s(client: Client, api: Api) -> None:
    session = opened(api)
    send(client, session, amount="1", currency="USD", line_items="[]")
    details = shown(api, session)["payment_details"]
    assert (details["amount"], details["currency"]) == (25_000, "PHP")


def test_a_challenge_leads_to_the_bank_and_back_to_the_shop(client: Client, api: Api) -> None:
    session = opened(api)
    bank = send(client, session, number=CHALLENGED)["Location"]
    assert "/simulator/pay/" in bank
    back = client.post(path_of(bank), {"decision": "pay"})["Location"]
    done = client.get(path_of(back))["Location"]
    assert client.get(path_of(done))["Location"] == session["success_url"]


def test_a_wallet_that_is_refused_leads_back_to_the_page_which_says_so(client: Client, api: Api) -> None:
    session = opened(api)
    wallet = client.post(page_of(session), {"attempt": "0", "way": "gcash"})["Location"]
    back = client.post(path_of(wallet), {"decision": "cancel"})["Location"]
    assert client.get(path_of(back))["Location"] == session["payment_url"]
    text = text_of(client, session)
    assert "You cancelled the payment" in text
    assert "Nothing was paid." in text
    assert re.search(r'value="gcash" checked', text)


def test_a_declined_card_is_explained_and_another_one_pays(client: Client, api: Api) -> None:
    session = opened(api)
    assert send(client, session, number=INSUFFICIENT)["Location"] == page_of(session)
    text = text_of(client, session)
    assert "<h2>There is not enough money on your account</h2>" in text
    assert 'role="alert"' in text
    assert "The card ending in 9995 was declined. Enter another card" in text
    assert 'value="Maria Santos"' in text
    assert send(client, session, attempt="1")["Location"].endswith("/done")
    assert shown(api, session)["payment_status"] == "paid"


def test_a_card_that_was_not_confirmed_may_be_entered_again(client: Client, api: Api) -> None:
    session = opened(api)
    asked = path_of(send(client, session, number=CHALLENGED)["Location"])
    client.get(path_of(client.post(asked, {"decision": "fail"})["Location"]))
    text = text_of(client, session)
    assert "Your bank could not confirm that it was you" in text
    assert "was declined" not in text
    assert 'value="Maria Santos"' in text


def test_a_form_with_errors_is_shown_again_without_the_card(client: Client, api: Api) -> None:
    session = opened(api, customer_name_collection=True)
    response = send(client, session, number="4242 4242 4242 4241", cvc="98", name="Maria Santos")
    text = response.content.decode()
    assert response.status_code == 422
    assert "Please check 2 fields" in text
    assert 'aria-describedby="f-number-note"' in text
    assert "4242 4242 4242 4241" not in text
    assert 'value="98"' not in text
    assert 'value="Maria Santos"' in text
    assert charges_of(session) == []


def test_a_form_that_is_sent_twice_pays_once(client: Client, api: Api) -> None:
    session = opened(api)
    send(client, session)
    assert send(client, session)["Location"] == page_of(session)
    assert len(charges_of(session)) == 1


def test_a_form_of_an_earlier_attempt_pays_nothing(client: Client, api: Api) -> None:
    session = opened(api)
    send(client, session, number=DECLINED)
    assert send(client, session, attempt="0")["Location"] == page_of(session)
    assert len(charges_of(session)) == 1


@pytest.mark.parametrize("attempt", ["", "-1", "x", "9" * 30])
def test_a_form_that_is_none_of_ours_pays_nothing(client: Client, api: Api, attempt: str) -> None:
    session = opened(api)
    assert send(client, session, attempt=attempt)["Location"] == page_of(session)
    assert charges_of(session) == []


def test_a_second_tab_sees_that_it_is_paid(client: Client, api: Api) -> None:
    session = opened(api)
    pay(session)
    text = text_of(client, session)
    for part in ("your payment went through", "₱250.00", "Card ending in 3055", session["success_url"]):
        assert part in text, part
    assert 'name="number"' not in text


def test_while_the_payer_is_at_a_bank_the_page_offers_to_continue_or_pay_otherwise(client: Client, api: Api) -> None:
    session = opened(api)
    charge = pay_by_wallet(session)
    assert charge.action
    text = text_of(client, session)
    assert "You have not approved this payment yet" in text
    assert charge.action["url"] in text
    assert client.post(page_of(session), {"otherwise": "1"})["Location"] == page_of(session)
    assert 'name="number"' in text_of(client, session)
    assert send(client, session, attempt="1")["Location"].endswith("/done")


def test_while_an_outcome_is_unknown_the_page_offers_nothing_but_to_wait(client: Client, api: Api) -> None:
    session = opened(api)
    send(client, session, number=NEVER_ARRIVES)
    text = text_of(client, session)
    assert "Please do not pay a second time." in text
    assert session["cancel_url"] not in text
    assert "Pay another way" not in text


def test_a_session_that_is_over_says_so(client: Client, api: Api) -> None:
    session = opened(api)
    api.post(f"/checkout_sessions/{session['id']}/expire")
    text = text_of(client, session, 410)
    assert "The time to pay is over" in text
    assert session["cancel_url"] in text
    ended = re.search(r'<time datetime="(.+?)"', text)
    assert ended
    assert datetime.fromisoformat(ended[1]) <= clock.now()
    assert send(client, session)["Location"] == page_of(session)
    assert charges_of(session) == []


def test_a_session_whose_time_is_over_cannot_be_paid_before_the_worker_ends_it(client: Client, api: Api) -> None:
    session = opened(api)
    Checkout.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert "The time to pay is over" in text_of(client, session, 410)
    assert send(client, session)["Location"] == page_of(session)
    assert charges_of(session) == []


def test_after_too_many_attempts_the_page_leads_back(client: Client, api: Api) -> None:
    session = opened(api)
    Checkout.objects.update(attempts=ATTEMPTS_MAX)
    text = text_of(client, session)
    assert "tried too often" in text
    assert session["cancel_url"] in text
    send(client, session, attempt=str(ATTEMPTS_MAX))
    assert charges_of(session) == []


def test_a_held_amount_is_reserved_and_then_released(client: Client, api: Api) -> None:
    session = opened(api, **SETUP)
    assert "Reserve ₱250.00" in text_of(client, session)
    send(client, session)
    text = text_of(client, session)
    assert "the amount is reserved" in text
    assert "Reserved with" in text
    assert "Paid" not in text
    api.post(f"/charges/{shown(api, session)['payment_details']['id']}/void")
    assert "not reserved any more" in text_of(client, session)


def test_a_card_is_kept_for_a_customer_of_whom_the_address_is_asked(client: Client, api: Api) -> None:
    session = opened(api, mode="save_card", line_items=None, payment_method_types=["card"])
    text = text_of(client, session)
    assert "Nothing is paid now." in text
    assert 'name="email"' in text
    assert send(client, session, email="maria@").status_code == 422
    assert send(client, session, email="maria@example.com")["Location"].endswith("/done")
    text = text_of(client, session)
    assert "your card is saved" in text
    assert f'<time datetime="{timezone.localtime(Checkout.objects.get().updated_at).isoformat()}"' in text
    assert shown(api, session)["payment_status"] == "paid"


def test_a_subscription_keeps_the_card_and_asks_whom_for(client: Client, api: Api) -> None:
    session = opened(api, mode="subscription", payment_method_types=["card"])
    assert "Your card is kept" in text_of(client, session)
    assert send(client, session).status_code == 422
    send(client, session, email="maria@example.com")
    assert shown(api, session)["customer"].startswith("cus_")


def test_a_way_that_was_switched_off_since_is_not_offered(client: Client, api: Api, shop: NewMerchant) -> None:
    session = opened(api)
    shop.merchant.payment_method_settings = {"gcash": {"enabled": False}}
    shop.merchant.save()
    assert "GCash" not in text_of(client, session)
    shop.merchant.payment_method_settings |= {"card": {"enabled": False}}
    shop.merchant.save()
    response = send(client, session)
    assert response.status_code == 422
    assert "This way to pay is not available now" in response.content.decode()


def test_after_too_many_declines_the_page_says_to_wait(
    client: Client, api: Api, settings: Settings, noon: None
) -> None:
    settings.DECLINE_LIMITS_TEST = {"card": 100, "address": 1, "key": 100, "merchant": 100}
    session = opened(api)
    send(client, session, number=DECLINED)
    response = send(client, session, attempt="1")
    assert response.status_code == 429
    assert "Too many attempts were declined" in response.content.decode()


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


def test_an_address_that_opens_pages_without_end_is_answered_briefly(
    client: Client, api: Api, settings: Settings, noon: None
) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "2/hour"
    session = opened(api)
    other = {"REMOTE_ADDR": "203.0.113.9"}
    assert [client.get(page_of(session), **other).status_code for _ in range(3)] == [200, 200, 429]
    assert client.get(page_of(session)).status_code == 200


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
