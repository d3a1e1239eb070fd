"""Captures, voids, cancellations and refunds as Xendit answers them."""

import json
from typing import Any

import pytest

from payments.providers.base import (
    Approved,
    Declined,
    NotFound,
    NotSent,
    Operation,
    Outcome,
    Pending,
    Rejected,
    Unknown,
)
from payments.providers.http import Reply
from payments.providers.xendit import operations
from payments.providers.xendit.client import XenditAnswer, XenditClient, read
from payments.providers.xendit.connector import Xendit
from tests.providers.bench import AMOUNT, Spoilt, begun, operation, redirected, taken
from tests.providers.openapi import described
from tests.providers.xendit import shapes
from tests.providers.xendit.bench import URL, XenditBench
from tests.providers.xendit.books import Refund, Request
from tests.providers.xendit.fake import SPEC

OPERATION = Operation("cd" * 16, "capture", "ab" * 16, "pr-1", AMOUNT, "PHP", provider_ref="rfd-1")
MADE = Request("ab" * 16, AMOUNT, "PHP", "PH", "CARDS", "MANUAL", "SUCCEEDED", payment_id="py-1", captured=AMOUNT)
REFUND = Refund(MADE, OPERATION.reference, AMOUNT, "OTHERS")


def answer(shape: dict[str, Any], **members: Any) -> XenditAnswer:
    """Return a description with these members, as it is read."""
    return XenditAnswer(200, "", read(json.dumps(shape | members).encode()))


def refusal(code: str) -> XenditAnswer:
    """Return a refusal of this name."""
    return XenditAnswer(400, code, {"error_code": code, "message": "No."})


@pytest.mark.parametrize(
    ("status", "meant"),
    [
        ("SUCCEEDED", Approved),
        ("AUTHORIZED", NotFound),
        ("PENDING", Pending),
        ("CANCELED", Declined),
        ("EXPIRED", Declined),
        ("FAILED", Declined),
        ("SETTLED", Unknown),
    ],
)
def test_a_capture_is_known_by_its_payment(status: str, meant: type[Outcome]) -> None:
    outcome = operations.captured(OPERATION, answer(shapes.described_payment(MADE), status=status))
    assert isinstance(outcome, meant)


@pytest.mark.parametrize(
    "captures",
    [[], None, "all", [{}], [{"capture_amount": 99.99}], [{"capture_amount": 60}, {"capture_amount": 60}]],
    ids=str,
)
def test_a_capture_of_another_amount_is_unknown(captures: object) -> None:
    outcome = operations.captured(OPERATION, answer(shapes.described_payment(MADE), captures=captures))
    assert isinstance(outcome, Unknown)


@pytest.mark.parametrize("read_as", [operations.captured, operations.voided, operations.cancelled])
@pytest.mark.parametrize("members", [{"reference_id": "ef" * 16}, {"currency": "USD"}], ids=str)
def test_what_is_about_another_payment_is_unknown(read_as: Any, members: dict[str, str]) -> None:
    assert isinstance(read_as(OPERATION, answer(shapes.described_payment(MADE), **members)), Unknown)


@pytest.mark.parametrize(
    ("status", "meant"),
    [
        ("CANCELED", Approved),
        ("EXPIRED", Approved),
        ("AUTHORIZED", NotFound),
        ("SUCCEEDED", Declined),
        ("FAILED", Declined),
        ("SETTLED", Unknown),
    ],
)
def test_a_void_is_known_by_its_payment(status: str, meant: type[Outcome]) -> None:
    outcome = operations.voided(OPERATION, answer(shapes.described_payment(MADE), status=status))
    assert isinstance(outcome, meant)


@pytest.mark.parametrize("read_as", [operations.captured, operations.voided, operations.cancelled])
@pytest.mark.parametrize("status", [None, 7, ["SUCCEEDED"], {}, "succeeded"], ids=str)
def test_a_status_that_is_none_is_unknown(read_as: Any, status: object) -> None:
    assert isinstance(read_as(OPERATION, answer(shapes.described_payment(MADE), status=status)), Unknown)


@pytest.mark.parametrize(
    ("status", "meant"),
    [("SUCCEEDED", Approved), ("PENDING", Pending), ("FAILED", Declined), ("CANCELLED", Declined), ("NEW", Unknown)],
)
def test_a_refund_is_known_by_its_status(status: str, meant: type[Outcome]) -> None:
    outcome = operations.refunded(OPERATION, answer(shapes.described_refund(REFUND), status=status))
    assert isinstance(outcome, meant)


@pytest.mark.parametrize("members", [{"amount": 1}, {"currency": "USD"}, {"reference_id": None}, {"id": ""}], ids=str)
def test_a_refund_of_something_else_is_unknown(members: dict[str, Any]) -> None:
    outcome = operations.refunded(OPERATION, answer(shapes.described_refund(REFUND), **members))
    assert isinstance(outcome, Unknown)


@pytest.mark.parametrize(
    ("status", "meant"),
    [("SUCCESS", Approved), ("PENDING", Pending), ("FAILED", Declined), ("REVERSED", Declined), ("NEW", Unknown)],
)
def test_a_refund_is_known_by_the_money_that_moved(status: str, meant: type[Outcome]) -> None:
    listed = answer(shapes.listed_refund(REFUND), status=status).body
    assert isinstance(operations.listed_refund(OPERATION, listed), meant)


def test_another_movement_of_money_is_no_refund_of_ours() -> None:
    listed = answer(shapes.listed_refund(REFUND), amount=1, status="SUCCESS").body
    assert isinstance(operations.listed_refund(OPERATION, listed), Unknown)


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("REFUND_AMOUNT_EXCEEDED", Declined),
        ("INELIGIBLE_TRANSACTION_STATUS", Declined),
        ("PARTIAL_REFUND_COUNTS_EXCEEDED", Declined),
        ("REFUND_IN_PROGRESS", Pending),
        ("TEMPORARILY_UNAVAILABLE", NotSent),
        ("INSUFFICIENT_BALANCE", Rejected),
        ("API_VALIDATION_ERROR", Rejected),
    ],
)
def test_a_refused_refund_is_the_payments_state_or_ours(code: str, meant: type[Outcome]) -> None:
    described(SPEC).check_answer("POST", "/refunds", 400, refusal(code).body)
    assert isinstance(operations.refunded(OPERATION, refusal(code)), meant)


@pytest.mark.parametrize("read_as", [operations.captured, operations.voided, operations.cancelled, operations.refunded])
def test_a_refusal_for_now_is_asked_again(read_as: Any) -> None:
    assert isinstance(read_as(OPERATION, refusal("TEMPORARILY_UNAVAILABLE")), NotSent)


def test_a_second_refund_waits_for_the_first(bench: XenditBench) -> None:
    payment = taken(bench)
    first, second = (operation("refund", payment, 4_000) for _ in range(2))
    assert [type(bench.connector.refund(each)) for each in (first, second)] == [Pending, Pending]
    assert bench.money(payment).returned == 4_000
    bench.let_pass()
    bench.connector.resolve(second)
    assert bench.money(payment).returned == 8_000


def test_a_hold_that_ran_out_counts_as_released(bench: XenditBench) -> None:
    payment = taken(bench, capture=False)
    bench.fake.books.expire(bench.fake.books.requests[payment.provider_ref])
    assert isinstance(bench.connector.void(operation("void", payment)), Approved)


@pytest.mark.parametrize("kind", ["capture", "void"])
def test_where_the_payment_cannot_be_looked_up_nothing_was_asked(bench: XenditBench, kind: str) -> None:
    payment = taken(bench, capture=False)
    bench.spoil_next(Spoilt.DOWN)
    assert isinstance(getattr(bench.connector, kind)(operation(kind, payment)), NotSent)
    assert bench.money(payment).held == AMOUNT


def test_where_nobody_paid_there_is_nothing_to_release(bench: XenditBench) -> None:
    payment = begun(bench, redirected(bench))
    assert isinstance(bench.connector.void(operation("void", payment)), NotSent)


@pytest.mark.parametrize("kind", ["capture", "void"])
def test_what_was_taken_note_of_and_is_not_done_yet_is_waited_for(bench: XenditBench, kind: str) -> None:
    payment = taken(bench, capture=False)
    held = bench.fake.books.requests[payment.provider_ref]
    announced = iter([shapes.described_request(held), shapes.described_payment(held)])
    client = XenditClient(URL, "", lambda *request: Reply(200, {}, json.dumps(next(announced)).encode()))
    assert isinstance(getattr(Xendit(client, ""), kind)(operation(kind, payment)), Pending)


def test_a_hold_is_never_extended(bench: XenditBench) -> None:
    extension = operation("extend", taken(bench, capture=False), hold_days=7)
    assert isinstance(bench.connector.extend(extension), Rejected)
    assert isinstance(bench.connector.resolve(extension), NotFound)
