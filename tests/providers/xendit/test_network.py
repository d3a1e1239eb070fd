"""Broken connections and answers that are none, and what may be known of what was asked."""

import logging
from contextlib import closing

import pytest
from pytest_django.fixtures import Settings

from payments.providers import registry
from payments.providers.accounts import Account
from payments.providers.base import Approved, NotSent, Rejected, Unknown
from payments.providers.http import Connections, Reply
from payments.providers.xendit.client import XenditClient
from payments.providers.xendit.connector import Xendit
from tests.providers.bench import AMOUNT, CARD, Money, Spoilt, asked, operation, taken
from tests.providers.xendit.bench import URL, XenditBench, xendit_bench
from tests.support.http_server import NOBODY

# For tries that come to their limit.
SHORT_SECONDS = 0.3


def test_where_nobody_listens_nothing_was_sent(bench: XenditBench) -> None:
    nobody = Xendit(XenditClient(NOBODY, bench.secret_key), bench.callback_token)
    assert isinstance(nobody.create_payment(asked(bench)), NotSent)


@pytest.mark.long
def test_an_answer_that_takes_too_long_is_unknown() -> None:
    with closing(Connections(SHORT_SECONDS)) as line, xendit_bench(line.send) as bench:
        payment = asked(bench)
        bench.spoil_next(Spoilt.DELAYED)
        assert isinstance(bench.connector.create_payment(payment), Unknown)
        assert bench.money(payment) == Money(taken=AMOUNT)


@pytest.mark.parametrize("how", [Spoilt.LOST, Spoilt.CUT, Spoilt.GARBLED, Spoilt.FAILING])
@pytest.mark.parametrize("kind", ["capture", "void", "refund"])
def test_an_operation_whose_answer_is_spoilt_is_unknown(bench: XenditBench, kind: str, how: Spoilt) -> None:
    asked_for = operation(kind, taken(bench, capture=kind == "refund"))
    bench.spoil_next(how)
    assert isinstance(getattr(bench.connector, kind)(asked_for), Unknown)


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, b"{}"),
        (201, b'{"status": "SUCCEEDED"}'),
        (204, b""),
        (302, b'{"status": "SUCCEEDED"}'),
        (400, b"{}"),
        (400, b'{"error_code": ""}'),
        (403, b"<html>"),
        (408, b'{"error_code": "TIMEOUT"}'),
        (500, b'{"error_code": "SERVER_ERROR"}'),
        (503, b'{"error_code": "ISSUER_UNAVAILABLE"}'),
        (601, b'{"error_code": "WHAT"}'),
    ],
)
def test_an_answer_of_no_known_shape_is_unknown(bench: XenditBench, status: int, content: bytes) -> None:
    client = XenditClient(URL, bench.secret_key, lambda *request: Reply(status, {}, content))
    assert isinstance(Xendit(client, "").create_payment(asked(bench)), Unknown)


def test_an_account_that_xendit_knows_is_approved(bench: XenditBench, settings: Settings) -> None:
    settings.XENDIT_URL = bench.fake.address
    assert isinstance(registry.connect("xendit", account(bench)).test_credentials(), Approved)


def test_an_account_that_xendit_does_not_know_is_refused(bench: XenditBench) -> None:
    outsider = Xendit(XenditClient(bench.fake.address, "xnd_development_nobody"), "")
    outcome = outsider.test_credentials()
    assert isinstance(outcome, Rejected)
    assert outcome.provider_code == "INVALID_API_KEY"


def account(bench: XenditBench) -> Account:
    """Return the bench's account without the country."""
    return Account(False, {"secret_key": bench.secret_key, "callback_token": bench.callback_token})


def test_neither_key_nor_card_is_in_a_log_or_a_repr(bench: XenditBench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    payment = asked(bench)
    outcomes = [bench.connector.create_payment(payment)]
    for how in (Spoilt.LOST, Spoilt.GARBLED, Spoilt.BUSY, Spoilt.DOWN):
        bench.spoil_next(how)
        outcomes.append(bench.connector.create_payment(asked(bench)))
    written = caplog.text + "".join(str(vars(record)) for record in caplog.records)
    shown = written + repr((account(bench), payment, bench.connector, outcomes))
    assert "provider asked" in written
    for secret in (bench.secret_key, bench.callback_token, CARD.number, "juan@example.com", "Basic "):
        assert secret not in shown
