"""The simulator's page for the payer: asked once, decided once, locked down."""

import re
from datetime import timedelta

import pytest
import segno
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from payments import clock, sourcetypes
from payments.providers.base import Approved, Declined, Payment
from payments.providers.simulator.models import Entry, SimulatedPayment
from tests.checkout.cast import opened, pay_by_wallet
from tests.client import Api
from tests.pages.waiting_charges import path_of
from tests.simulator.factories import RETURN_URL, by_type, operation, page_path, payment, simulator

pytestmark = pytest.mark.django_db


@pytest.fixture
def challenge() -> Payment:
    return payment(authenticate=True)


@pytest.fixture
def wallet() -> Payment:
    return by_type("gcash")


def text_of(response: HttpResponse) -> str:
    return response.content.decode()


def decide(client: Client, path: str, decision: str, **fields: str) -> HttpResponse:
    return client.post(path, {"decision": decision, **fields})


def test_a_challenge_shows_money_card_and_three_ways_out(client: Client, challenge: Payment) -> None:
    text = text_of(client.get(page_path(challenge)))
    for part in ("Test mode: no real money", "₱100.00", "Card ending in 4242", "Fail authentication", "Cancel"):
        assert part in text
    assert "4242424242424242" not in text


@pytest.mark.parametrize("kind", [each for each in sourcetypes.SOURCE_TYPES if each.name != "card"])
def test_the_page_of_each_type_names_it_and_asks_as_it_would(client: Client, kind: sourcetypes.SourceType) -> None:
    text = text_of(client.get(page_path(by_type(kind.name))))
    assert kind.label in text
    assert ("qr.svg" in text) == kind.shows_qr
    assert ('id="pin"' in text) == kind.asks_pin


@pytest.mark.parametrize(
    ("currency", "shown"), [("JPY", "JPY\xa01,234,567"), ("KWD", "KWD\xa01,234.567"), ("PHP", "₱12,345.67")]
)
def test_money_has_the_decimals_of_its_currency(client: Client, currency: str, shown: str) -> None:
    path = page_path(by_type("gcash", amount=1_234_567, currency=currency))
    assert f"{shown}<" in text_of(client.get(path))


@pytest.mark.parametrize(
    ("decision", "code"), [("pay", ""), ("fail", "authentication_failed"), ("cancel", "payer_cancelled")]
)
def test_a_decision_is_recorded_and_sends_the_payer_back(
    client: Client, challenge: Payment, decision: str, code: str
) -> None:
    response = decide(client, page_path(challenge), decision)
    assert (response.status_code, response["Location"]) == (303, RETURN_URL)
    outcome = simulator.continue_payment(challenge, {})
    assert outcome.code == code if isinstance(outcome, Declined) else code == ""


@pytest.mark.parametrize("capture", [True, False])
def test_a_passed_challenge_takes_or_holds_as_asked(client: Client, capture: bool) -> None:
    asked = payment(authenticate=True, capture=capture)
    decide(client, page_path(asked), "pay")
    outcome = simulator.resolve(asked)
    assert isinstance(outcome, Approved)
    assert outcome.captured == capture


def test_a_second_click_changes_nothing_and_goes_the_same_way(client: Client, wallet: Payment) -> None:
    path = page_path(wallet)
    answers = [decide(client, path, decision) for decision in ("pay", "pay", "cancel")]
    assert {answer["Location"] for answer in answers} == {RETURN_URL}
    assert isinstance(simulator.resolve(wallet), Approved)
    assert Entry.objects.count() == 1


@pytest.mark.parametrize(("decision", "expected"), [("pay", "You approved"), ("cancel", "was not approved")])
def test_the_page_shows_the_decision_afterwards(client: Client, wallet: Payment, decision: str, expected: str) -> None:
    path = page_path(wallet)
    decide(client, path, decision)
    text = text_of(client.get(path))
    assert expected in text
    assert f'href="{RETURN_URL}"' in text
    assert "<form" not in text


@pytest.mark.parametrize("decision", ["", "please"])
def test_anything_else_decides_nothing(client: Client, wallet: Payment, decision: str) -> None:
    path = page_path(wallet)
    before = simulator.resolve(wallet)
    assert decide(client, path, decision)["Location"].endswith(path)
    assert simulator.resolve(wallet) == before


def test_a_debit_is_not_paid_without_its_pin(client: Client) -> None:
    debit = by_type("bpi")
    path = page_path(debit)
    before = simulator.resolve(debit)
    decide(client, path, "pay")
    assert simulator.resolve(debit) == before


def test_the_right_pin_pays(client: Client) -> None:
    debit = by_type("unionbank")
    answer = decide(client, page_path(debit), "pin", pin="123456", tries="0")
    assert answer["Location"] == RETURN_URL
    assert isinstance(simulator.resolve(debit), Approved)


def test_a_wrong_pin_is_reported_and_the_third_ends_it(client: Client) -> None:
    debit = by_type("bpi")
    path = page_path(debit)
    for tries in range(2):
        assert decide(client, path, "pin", pin="000000", tries=str(tries))["Location"].endswith(path)
        assert f"Tries left: {2 - tries}" in text_of(client.get(path))
    assert decide(client, path, "pin", pin="000000", tries="2")["Location"] == RETURN_URL
    assert isinstance(simulator.resolve(debit), Declined)


def test_a_wrong_pin_sent_twice_counts_once(client: Client) -> None:
    debit = by_type("bpi")
    path = page_path(debit)
    for _ in range(4):
        decide(client, path, "pin", pin="000000", tries="0")
    assert "Tries left: 2" in text_of(client.get(path))


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_page_whose_hour_is_over_is_gone(client: Client, wallet: Payment, method: str) -> None:
    path = page_path(wallet)
    SimulatedPayment.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    response = getattr(client, method)(path, {"decision": "pay"})
    assert response.status_code == 410
    assert RETURN_URL in text_of(response)
    outcome = simulator.resolve(wallet)
    assert isinstance(outcome, Declined)
    assert outcome.code == "action_expired"


def test_a_page_of_a_checkout_whose_hour_is_over_lets_the_payer_try_again(client: Client, api: Api) -> None:
    charge = pay_by_wallet(opened(api))
    SimulatedPayment.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    text = text_of(client.post(path_of(charge.action["url"]), {"decision": "pay"}))
    assert f'href="{SimulatedPayment.objects.get().return_url}">Try again</a>' in text


def test_a_page_lives_for_one_hour(client: Client, wallet: Payment) -> None:
    page_path(wallet)
    row = SimulatedPayment.objects.get()
    assert row.expires_at - row.created_at == pytest.approx(timedelta(hours=1), abs=timedelta(seconds=5))


def test_a_payment_that_the_merchant_ended_cannot_be_paid(client: Client, wallet: Payment) -> None:
    path = page_path(wallet)
    simulator.cancel(operation("cancel", wallet))
    decide(client, path, "pay")
    assert isinstance(simulator.resolve(wallet), Declined)
    assert "was not approved" in text_of(client.get(path))


@pytest.mark.parametrize("end", ["", "/qr.svg"])
def test_an_unknown_token_is_a_friendly_404(client: Client, end: str) -> None:
    response = client.get(f"/simulator/pay/{'x' * 43}{end}")
    assert response.status_code == 404
    assert "There is no payment at this address" in text_of(response)


def test_the_qr_code_is_a_picture_of_the_pages_address(client: Client, settings: Settings) -> None:
    path = page_path(by_type("qrph"))
    response = client.get(f"{path}/qr.svg")
    assert response["Content-Type"] == "image/svg+xml"
    drawn = segno.make_qr(settings.PUBLIC_URL + path).svg_inline(scale=6, light="white")
    assert drawn.partition(">")[2] in text_of(response)


@pytest.mark.parametrize("end", ["", "/qr.svg"])
def test_a_page_is_locked_down(client: Client, end: str) -> None:
    response = client.get(page_path(by_type("qrph")) + end)
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert (response["Referrer-Policy"], response["Cache-Control"]) == ("no-referrer", "no-store")


def test_a_page_has_no_inline_script_or_style(client: Client) -> None:
    for asked in (payment(authenticate=True), by_type("gcash"), by_type("qrph"), by_type("bpi")):
        assert not re.search(r"<script|<style|style=|\son\w+=", text_of(client.get(page_path(asked))))


def test_a_form_needs_no_cookie(wallet: Payment) -> None:
    client = Client(enforce_csrf_checks=True)
    assert decide(client, page_path(wallet), "pay").status_code == 303


def test_other_methods_are_refused(client: Client, wallet: Payment) -> None:
    assert client.put(page_path(wallet)).status_code == 405
