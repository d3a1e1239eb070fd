"""What Xendit reports by itself, which is believed in nothing but that something happened."""

import json
from typing import Any

import pytest

from payments.providers.base import BadSignature, Unknown, WebhookEvent
from payments.providers.xendit.webhooks import TOKEN_HEADER, read_webhook
from tests.providers.bench import AMOUNT, operation, taken
from tests.providers.xendit.bench import XenditBench

TOKEN = "shown by the dashboard"


def announced(body: dict[str, Any], **headers: str) -> list[WebhookEvent]:
    """Return the events in a message with the right token."""
    return read_webhook(TOKEN, {TOKEN_HEADER: TOKEN} | headers, json.dumps(body).encode())


def message(event: str = "payment.capture", **members: Any) -> dict[str, Any]:
    """Return a message about a payment of ours."""
    data = {"payment_id": "py-1", "payment_request_id": "pr-1", "reference_id": "ab", "status": "SUCCEEDED"}
    return {"event": event, "data": data | {"currency": "PHP", "request_amount": 18.89} | members}


def test_a_message_names_our_reference_and_what_to_compare() -> None:
    [event] = announced(message())
    expected = WebhookEvent("ab", None, "payment.capture:py-1:SUCCEEDED", 1_889, "PHP", "pr-1")
    assert event == expected


def test_a_request_that_ran_out_is_reported_by_its_own_name() -> None:
    [event] = announced(message("payment_request.expiry", status="EXPIRED"))
    assert event.key == "payment_request.expiry:pr-1:EXPIRED"


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_refund_is_reported_flat_or_one_deeper(is_nested: bool) -> None:
    data = {"id": "rfd-1", "reference_id": "cd", "status": "SUCCEEDED", "amount": 5, "currency": "PHP"}
    [event] = announced({"event": "refund.succeeded", "data": {"data": data} if is_nested else data})
    assert event == WebhookEvent("cd", None, "refund.succeeded:rfd-1:SUCCEEDED", 500, "PHP", "rfd-1")


def test_a_refund_that_was_made_by_hand_is_reported_by_the_providers_name_and_that_of_its_payment() -> None:
    data = {"id": "rfd-1", "payment_request_id": "pr-1", "status": "SUCCEEDED", "amount": 5, "currency": "PHP"}
    [event] = announced({"event": "refund.succeeded", "data": data})
    assert (event.reference, event.payment) == ("rfd-1", "pr-1")


def test_what_the_fake_shows_is_read(bench: XenditBench) -> None:
    refund = operation("refund", taken(bench), 4_000)
    bench.connector.refund(refund)
    bench.let_pass()
    events = [event for webhook in bench.webhooks() for event in bench.connector.read_webhook(*webhook)]
    assert [(event.reference, event.amount) for event in events] == [
        (refund.payment_reference, AMOUNT),
        (refund.reference, 4_000),
    ]


@pytest.mark.parametrize("name", ["x-callback-token", "X-Callback-Token", "X-CALLBACK-TOKEN"])
def test_the_token_is_found_however_its_name_is_written(name: str) -> None:
    assert read_webhook(TOKEN, {name: TOKEN}, json.dumps(message()).encode())


@pytest.mark.parametrize("headers", [{}, {TOKEN_HEADER: ""}, {TOKEN_HEADER: TOKEN + " "}, {TOKEN_HEADER: "ü"}], ids=str)
def test_another_token_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(BadSignature):
        read_webhook(TOKEN, headers, json.dumps(message()).encode())


def test_without_a_token_of_ours_everything_is_refused() -> None:
    with pytest.raises(BadSignature):
        read_webhook("", {TOKEN_HEADER: ""}, json.dumps(message()).encode())


def test_the_token_is_looked_at_before_the_message() -> None:
    with pytest.raises(BadSignature):
        read_webhook(TOKEN, {}, b"{")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"payment.capture"', b"[" * 100_000])
def test_what_is_no_message_cannot_be_read(body: bytes) -> None:
    with pytest.raises(ValueError):
        read_webhook(TOKEN, {TOKEN_HEADER: TOKEN}, body)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"event": "payment.capture"},
        {"event": "payment.capture", "data": []},
        message("payment_token.activation"),
        {"event": "balance.updated", "data": {"currency": "PHP"}},
    ],
    ids=str,
)
def test_what_is_about_none_of_ours_reports_nothing(body: dict[str, Any]) -> None:
    assert announced(body) == []


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (message(event="invoice.paid"), ("ab", "pr-1", "py-1")),
        (message(reference_id=None), ("pr-1", "pr-1", "py-1")),
        ({"event": "invoice.paid", "external_id": "ab", "id": "inv-1"}, ("ab", "inv-1", "inv-1")),
    ],
    ids=str,
)
def test_what_no_table_names_is_reported_with_all_that_it_names(body: dict[str, Any], names: tuple[str, ...]) -> None:
    [event] = announced(body)
    assert (event.reference, event.payment, event.provider_ref) == names
    assert isinstance(event.outcome, Unknown)
    assert body["event"] in event.outcome.why


def test_an_amount_that_is_none_is_not_reported() -> None:
    [event] = announced(message(request_amount="18.89"))
    assert event.amount is None


def test_an_amount_finer_than_its_currency_cannot_be_read() -> None:
    with pytest.raises(ValueError):
        announced(message(request_amount=18.891))
