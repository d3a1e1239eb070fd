"""The page of a checkout session: what it shows in each state, and where each answer leads."""

import re
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from payments import clock, failpoints
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.shared.errors import busy
from payments.failpoints import Failpoint
from payments.models import Checkout
from payments.models.checkout.checkout import ATTEMPTS_MAX
from tests.admin.forms import forms_of
from tests.checkout.cast import SETUP, billed, charges_of, opened, pay, pay_by_wallet, shown
from tests.checkout.shelf import linked
from tests.client import ANSWER_LOST, CHALLENGED, DECLINED, NEVER_ARRIVES, Api, made
from tests.pages.checkout_page import INSUFFICIENT, page_of, send, text_of
from tests.pages.waiting_charges import path_of
from tests.undone import undone

pytestmark = pytest.mark.django_db


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


def test_a_placeholder_whose_braces_are_encoded_is_the_session_s_id(client: Client, api: Api) -> None:
    session = opened(api, success_url="https://shop.example/thanks?id=%7BCHECKOUT_SESSION_ID%7d")
    pay(session)
    assert client.get(f"{page_of(session)}/done")["Location"] == f"https://shop.example/thanks?id={session['id']}"


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
    assert send(client, session, number=INSUFFICIENT)["Location"] == session["payment_url"]
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
    assert send(client, session)["Location"] == session["payment_url"]
    assert len(charges_of(session)) == 1


def test_a_form_of_an_earlier_attempt_pays_nothing(client: Client, api: Api) -> None:
    session = opened(api)
    send(client, session, number=DECLINED)
    assert send(client, session, attempt="0")["Location"] == session["payment_url"]
    assert len(charges_of(session)) == 1


@pytest.mark.parametrize("attempt", ["", "-1", "x", "9" * 30])
def test_a_form_that_is_none_of_ours_pays_nothing(client: Client, api: Api, attempt: str) -> None:
    session = opened(api)
    assert send(client, session, attempt=attempt)["Location"] == session["payment_url"]
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
    assert client.post(page_of(session), {"otherwise": "1"})["Location"] == session["payment_url"]
    text = text_of(client, session)
    assert ('name="number"' in text, "You cancelled the payment" in text, "in time" in text) == (True, True, False)
    assert send(client, session, attempt="1")["Location"].endswith("/done")


def test_the_page_of_an_earlier_attempt_gives_up_no_other(client: Client, api: Api) -> None:
    session = opened(api)
    pay_by_wallet(session)
    [given_up] = re.findall('name="otherwise" value="([0-9])"', text_of(client, session))
    client.post(page_of(session), {"otherwise": given_up})
    pay_by_wallet(session)
    client.post(page_of(session), {"otherwise": given_up})
    assert [charge.status for charge in charges_of(session)] == ["failed", "pending"]


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
    assert send(client, session)["Location"] == session["payment_url"]
    assert charges_of(session) == []


def test_a_session_whose_time_is_over_cannot_be_paid_before_the_worker_ends_it(client: Client, api: Api) -> None:
    session = opened(api)
    Checkout.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert "The time to pay is over" in text_of(client, session, 410)
    assert send(client, session)["Location"] == session["payment_url"]
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


@pytest.mark.parametrize("verb", ["refund", "void"])
def test_what_was_given_back_is_not_called_paid_on_the_page_or_the_receipt(client: Client, api: Api, verb: str) -> None:
    session = opened(api)
    pay(session)
    made(api.post(f"/charges/{shown(api, session)['payment_details']['id']}/{verb}"))
    for text in (text_of(client, session), client.get(f"{page_of(session)}/receipt").content.decode()):
        assert "The shop has given your payment back" in text
        assert "₱250.00 goes back to you." in text
        assert not re.search(r"\bPaid\b|went through|E-mail it", re.sub("<style>.*</style>", "", text, flags=re.DOTALL))


def test_what_was_given_back_in_part_is_said_beside_the_payment(client: Client, api: Api) -> None:
    session = opened(api)
    pay(session)
    made(api.post(f"/charges/{shown(api, session)['payment_details']['id']}/refund", {"amount": 1_000}))
    text = text_of(client, session)
    assert ("went through" in text, "₱10.00 of it goes back to you." in text) == (True, True)


def test_a_refusal_after_the_provider_was_asked_has_the_payer_wait(client: Client, api: Api) -> None:
    session = opened(api)

    def refuse(step: Failpoint) -> None:
        if step is Failpoint.RECORDING:
            raise busy()

    failpoints.listen(refuse)
    try:
        response = send(client, session)
    finally:
        failpoints.listen(None)
    assert (response.status_code, response.headers.get("Location")) == (303, session["payment_url"])
    assert "Please do not pay a second time." in text_of(client, session)


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


def test_a_card_to_be_kept_that_its_bank_declines_is_asked_for_again(client: Client, api: Api) -> None:
    session = opened(api, mode="save_card", line_items=None, payment_method_types=["card"])
    assert send(client, session, number=DECLINED, email="maria@example.com")["Location"] == session["payment_url"]
    text = text_of(client, session)
    assert "Your bank declined the card" in text
    assert 'value="Maria Santos"' in text
    assert DECLINED not in text
    assert send(client, session, email="maria@example.com", attempt="1")["Location"].endswith("/done")


def test_a_card_to_be_kept_whose_check_is_unknown_has_its_payer_wait(client: Client, api: Api) -> None:
    session = opened(api, mode="save_card", line_items=None, payment_method_types=["card"])
    send(client, session, number=ANSWER_LOST, email="maria@example.com")
    response = client.get(page_of(session))
    assert (response.status_code, "Refresh" in response.headers) == (200, True)
    assert 'name="number"' not in response.content.decode()


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


@pytest.mark.long
def test_no_form_of_a_payer_shows_a_refused_card_number_again(client: Client, api: Api) -> None:
    shipped = {"shipping_address_collection": {"allowed_countries": ["PH"]}, "phone_number_collection": True}
    bank = api.charge_source(api.wallet("bpi"))["action"]["url"]
    session = opened(api, billing_address_collection="required", **shipped)
    pages = [session["payment_url"], linked(api, **shipped)["url"]]
    written_back, tried = [], 0
    for page in map(path_of, [*pages, billed(api)["payment_request_url"], bank]):
        for form in forms_of(page, client.get(page).content.decode()):
            for name in (*form.typed, *form.hidden):
                with undone():
                    answer, tried = form.send(client, {name: CHALLENGED}), tried + 1
                written_back += [(page, name)] * (CHALLENGED in answer.content.decode())
    assert written_back == []
    assert tried > 20
