"""Requests whose answer was lost: nothing is asked again that could take money twice."""

from dataclasses import replace
from datetime import timedelta

import pytest

from payments import clock
from payments.providers.base import ActionRequired, Approved, Declined, NotFound, Payment, Pending, Unknown
from payments.providers.http import Reply
from payments.providers.xendit.client import XenditClient
from payments.providers.xendit.connector import Xendit
from tests.providers.bench import AMOUNT, Bench, Money, Spoilt, asked, begun, operation, redirected, taken
from tests.providers.xendit.bench import URL, XenditBench
from tests.providers.xendit.books import Request

LONG_AGO = timedelta(hours=1, seconds=1)


def asks(bench: XenditBench) -> list[str]:
    """Return the fake's requests since the bench was made, without the credential check."""
    return [f"{request.method} {request.path.partition('?')[0]}" for request in bench.fake.requests]


def lost(bench: Bench, payment: Payment) -> Payment:
    """`payment`, which the provider took, while its answer was lost."""
    bench.spoil_next(Spoilt.LOST)
    assert isinstance(bench.connector.create_payment(payment), Unknown)
    return payment


def test_a_payment_that_was_named_is_looked_up_by_its_name(bench: XenditBench) -> None:
    payment = begun(bench, redirected(bench))
    bench.connector.resolve(payment)
    assert asks(bench)[-1] == f"GET /v3/payment_requests/{payment.provider_ref}"


def test_a_card_whose_money_was_taken_is_found_by_our_reference(bench: XenditBench) -> None:
    payment = lost(bench, asked(bench))
    outcome = bench.connector.resolve(replace(payment, card=None))
    assert isinstance(outcome, Approved)
    assert outcome.provider_ref in bench.fake.books.requests


def test_a_card_that_is_held_is_unknown_until_its_webhook_names_it(bench: XenditBench) -> None:
    payment = lost(bench, asked(bench, capture=False))
    assert isinstance(bench.connector.resolve(payment), Unknown)
    [webhook] = bench.webhooks()
    [event] = bench.connector.read_webhook(*webhook)
    outcome = bench.connector.resolve(replace(payment, provider_ref=event.provider_ref))
    assert isinstance(outcome, Approved)
    assert not outcome.captured


def test_a_card_that_never_arrived_is_asked_for_again(bench: XenditBench) -> None:
    payment = asked(bench)
    assert isinstance(bench.connector.resolve(payment), Approved)
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_a_vaulted_card_is_asked_for_again_without_its_cvc(bench: XenditBench) -> None:
    payment = asked(bench, payer_absent=True)
    assert payment.card is not None
    assert isinstance(bench.connector.resolve(replace(payment, card=replace(payment.card, cvc=None))), Approved)


@pytest.mark.parametrize("why", ["late", "never asked", "no card", "no cvc"])
def test_a_card_is_not_asked_for_again(bench: XenditBench, why: str) -> None:
    payment = asked(bench)
    assert payment.card is not None
    changed = {
        "late": replace(payment, asked_at=clock.now() - LONG_AGO),
        "never asked": replace(payment, asked_at=None),
        "no card": replace(payment, card=None),
        "no cvc": replace(payment, card=replace(payment.card, cvc=None)),
    }[why]
    assert isinstance(bench.connector.resolve(changed), Unknown)
    assert asks(bench) == ["GET /transactions"]


def test_a_card_that_is_refused_when_asked_for_again_proves_nothing(bench: XenditBench) -> None:
    payment = lost(bench, asked(bench, card=bench.card(declined="card_declined")))
    assert isinstance(bench.connector.resolve(payment), Unknown)


@pytest.mark.parametrize("code", ["CARD_EXPIRED", "API_VALIDATION_ERROR"])
def test_a_card_that_is_turned_away_when_asked_for_again_proves_nothing(bench: XenditBench, code: str) -> None:
    replies = iter([Reply(200, {}, b'{"data": []}'), Reply(400, {}, f'{{"error_code": "{code}"}}'.encode())])
    connector = Xendit(XenditClient(URL, "", lambda *request: next(replies)), "")
    assert isinstance(connector.resolve(asked(bench)), Unknown)


def test_a_page_is_made_again_because_nobody_knows_the_first(bench: XenditBench) -> None:
    payment = lost(bench, redirected(bench))
    outcome = bench.connector.resolve(payment)
    assert isinstance(outcome, ActionRequired)
    assert outcome.provider_ref == asked_last(bench).id


def asked_last(bench: XenditBench) -> Request:
    """Return the newest payment request."""
    return list(bench.fake.books.requests.values())[-1]


def test_a_page_that_nobody_was_sent_to_in_an_hour_is_no_payment(bench: XenditBench) -> None:
    payment = lost(bench, redirected(bench))
    outcome = bench.connector.resolve(replace(payment, asked_at=clock.now() - LONG_AGO))
    assert isinstance(outcome, NotFound)


def test_a_lookup_that_is_refused_shows_nothing(bench: XenditBench) -> None:
    payment = replace(asked(bench), provider_ref="pr-00000000-0000-0000-0000-000000000000")
    assert isinstance(bench.connector.resolve(payment), Unknown)


def test_a_name_that_belongs_to_another_payment_is_not_believed(bench: XenditBench) -> None:
    paid, other = taken(bench), asked(bench)
    assert isinstance(bench.connector.resolve(replace(other, provider_ref=paid.provider_ref)), Unknown)


def test_a_capture_that_never_arrived_is_not_there(bench: XenditBench) -> None:
    assert isinstance(bench.connector.resolve(operation("capture", taken(bench, capture=False))), NotFound)


def test_a_void_that_never_arrived_is_not_there(bench: XenditBench) -> None:
    assert isinstance(bench.connector.resolve(operation("void", taken(bench, capture=False))), NotFound)


def test_a_cancellation_is_known_by_its_payment(bench: XenditBench) -> None:
    payment = begun(bench, redirected(bench))
    cancellation = operation("cancel", payment)
    assert isinstance(bench.connector.resolve(cancellation), Unknown)
    bench.connector.cancel(cancellation)
    assert isinstance(bench.connector.resolve(cancellation), Approved)


def test_a_refund_that_never_arrived_is_made(bench: XenditBench) -> None:
    payment = taken(bench)
    assert isinstance(bench.connector.resolve(operation("refund", payment)), Pending)
    assert bench.money(payment).returned == AMOUNT


def test_a_refund_that_has_a_name_is_never_asked_for_again(bench: XenditBench) -> None:
    payment = taken(bench)
    named = operation("refund", payment, provider_ref="rfd-1")
    assert isinstance(bench.connector.resolve(named), Pending)
    assert bench.money(payment).returned == 0


def test_a_refund_that_is_refused_when_asked_for_again_proves_nothing(bench: XenditBench) -> None:
    payment = taken(bench)
    bench.connector.refund(operation("refund", payment))
    bench.let_pass()
    assert isinstance(bench.connector.resolve(operation("refund", payment)), Unknown)
    assert isinstance(bench.connector.refund(operation("refund", payment)), Declined)


def test_a_payer_who_came_back_is_asked_about_at_the_provider(bench: XenditBench) -> None:
    payment = begun(bench, redirected(bench))
    assert isinstance(bench.connector.continue_payment(payment, {"paid": "yes"}), ActionRequired)
