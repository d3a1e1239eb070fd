"""How Adyen is reached, what its errors mean, and that nothing secret is shown on the way."""

import logging
from collections.abc import Mapping
from dataclasses import replace

import pytest
from django.test import override_settings

from payments.providers.accounts import Account
from payments.providers.adyen.connector import CONNECTOR, Adyen
from payments.providers.base import Approved, NotSent, Outcome, Rejected, Unknown
from payments.providers.http import Reply, Unsent
from tests.providers.adyen.bench import ACCOUNT, AdyenBench
from tests.providers.adyen.factories import asked
from tests.providers.adyen.fake import API_KEY, AdyenFake
from tests.providers.adyen.webhooks import HMAC_KEY
from tests.providers.bench import CARD, Spoilt
from tests.support import http_server
from tests.support.http_server import NOBODY, Answered, Asked

LIVE = replace(ACCOUNT, livemode=True, settings={**ACCOUNT.settings, "live_prefix": "1797a841fbb37ca7-Kaha"})
NAMELESS = replace(LIVE, settings=ACCOUNT.settings)


def whereto(account: Account, address: str = "") -> str:
    """Where the question of a payment goes."""
    asked_at: list[str] = []

    def send(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        asked_at.append(url)
        raise Unsent

    Adyen(account, address, send).create_payment(asked())
    return asked_at[0]


def answering(answered: Answered) -> Outcome:
    """Return the outcome of a payment where Adyen answers so."""
    with http_server.answering(lambda asked: answered) as fake:
        return Adyen(ACCOUNT, fake.address).create_payment(asked())


def test_test_accounts_and_live_ones_have_addresses_of_their_own() -> None:
    assert whereto(ACCOUNT) == "https://checkout-test.adyen.com/v72/payments"
    live = "https://1797a841fbb37ca7-Kaha-checkout-live.adyenpayments.com/checkout/v72/payments"
    assert whereto(LIVE) == live


@pytest.mark.parametrize("account", [ACCOUNT, LIVE, NAMELESS], ids=["test", "live", "live without a prefix"])
def test_another_address_replaces_both(account: Account) -> None:
    assert whereto(account, "http://127.0.0.1:9000/adyen") == "http://127.0.0.1:9000/adyen/payments"


def test_the_connector_goes_where_the_settings_say() -> None:
    fake = AdyenFake()
    with fake.serving(), override_settings(ADYEN_URL=fake.address):
        assert isinstance(CONNECTOR.connect(ACCOUNT).test_credentials(), Approved)


def test_a_live_account_without_its_prefix_asks_nobody() -> None:
    assert isinstance(Adyen(NAMELESS, "").create_payment(asked()), Rejected)


def test_where_nobody_listens_nothing_was_sent() -> None:
    assert isinstance(Adyen(ACCOUNT, NOBODY).create_payment(asked()), NotSent)


@pytest.mark.parametrize(
    ("status", "code"), [(400, "702"), (401, "000"), (403, "901"), (404, "904"), (422, "14_030"), (422, "101")]
)
def test_a_definite_no_is_nobodys_fault_but_ours(status: int, code: str) -> None:
    outcome = answering(Answered(status, {"status": status, "errorCode": code, "message": "Return URL is missing."}))
    assert outcome == Rejected(code, "Return URL is missing.")


@pytest.mark.parametrize(
    ("status", "code", "headers"),
    [
        (500, "905", {}),
        (503, "703", {}),
        (409, "704", {}),
        (422, "704", {}),
        (422, "702", {"Transient-Error": "true"}),
        (302, "", {}),
    ],
)
def test_what_may_have_happened_is_unknown(status: int, code: str, headers: dict[str, str]) -> None:
    assert isinstance(answering(Answered(status, {"errorCode": code}, headers)), Unknown)


def test_an_answer_that_is_no_object_is_unknown() -> None:
    assert isinstance(answering(Answered(200, ["Authorised"])), Unknown)


def test_a_question_bears_the_key_under_which_it_may_be_asked_again(bench: AdyenBench) -> None:
    payment = asked()
    bench.connector.create_payment(payment)
    [sent] = bench.fake.requests
    assert sent.headers["Idempotency-Key"] == payment.reference
    assert sent.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("name", ["api_key", "hmac_key"])
def test_credentials_that_cannot_be_right_are_rejected(bench: AdyenBench, name: str) -> None:
    wrong = replace(ACCOUNT, credentials={**ACCOUNT.credentials, name: "something else"})
    assert isinstance(Adyen(wrong, bench.fake.address).test_credentials(), Rejected)


def test_an_account_that_adyen_does_not_know_is_rejected(bench: AdyenBench) -> None:
    elsewhere = replace(ACCOUNT, settings={"merchant_account": "Somebody"})
    assert isinstance(Adyen(elsewhere, bench.fake.address).test_credentials(), Rejected)


@pytest.mark.parametrize("how", [None, *(how for how in Spoilt if how is not Spoilt.DELAYED)], ids=str)
def test_no_card_and_no_key_is_shown_whatever_happens(
    bench: AdyenBench, caplog: pytest.LogCaptureFixture, how: Spoilt | None
) -> None:
    caplog.set_level(logging.DEBUG)
    if how:
        bench.spoil_next(how)
    outcome = bench.connector.create_payment(asked(card=replace(CARD, cvc="the-cvc")))
    shown = f"{caplog.text} {[record.__dict__ for record in caplog.records]} {outcome!r} {bench.connector!r}"
    assert not [secret for secret in (CARD.number, "the-cvc", API_KEY, HMAC_KEY) if secret in shown]


def test_a_refusal_does_not_quote_what_was_asked() -> None:
    def quoting(asked: Asked) -> Answered:
        return Answered(422, {"errorCode": "101", "message": f"Invalid card: {asked.body.decode()}"})

    with http_server.answering(quoting) as fake:
        outcome = Adyen(ACCOUNT, fake.address).create_payment(asked())
    assert isinstance(outcome, Rejected)
    assert CARD.number not in outcome.message
    assert f'"cvc": "{CARD.cvc}"' not in outcome.message
