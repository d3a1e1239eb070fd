"""What Xendit's answers mean, each as it is described and each as it should never be."""

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotSent,
    Outcome,
    Payment,
    Pending,
    Rejected,
    Unknown,
)
from payments.providers.failure_data import REASONS, failure_data
from payments.providers.xendit import answers
from payments.providers.xendit.client import XenditAnswer, read
from payments.providers.xendit.declines import CODES, declined
from tests.providers.bench import AMOUNT, CARD, RETURN_URL
from tests.providers.openapi import SPECS, described
from tests.providers.xendit import shapes
from tests.providers.xendit.books import Request
from tests.providers.xendit.fake import SPEC

PAYMENT = Payment("ab" * 16, AMOUNT, "PHP", "card", True, False, RETURN_URL, "Halo-halo", "SARI STORE", CARD)
HOLD = replace(PAYMENT, capture=False)
SCHEMAS = json.loads((SPECS / SPEC).read_text())["components"]["schemas"]
FAILURE_CODES = [code for code in SCHEMAS["FailureCode"]["enum"] if code]


def request(**members: Any) -> Request:
    """Return a payment request that answers PAYMENT."""
    made = Request(PAYMENT.reference, AMOUNT, "PHP", "PH", "CARDS", "AUTOMATIC")
    return replace(made, **members)


def answered(asked: Payment = PAYMENT, **members: Any) -> Outcome:
    """Return the outcome of a description with these members."""
    body = shapes.described_request(request()) | members
    return answers.payment(asked, XenditAnswer(201, "", read(json.dumps(body).encode())))


@pytest.mark.parametrize(
    ("asked", "status", "meant"),
    [
        (PAYMENT, "SUCCEEDED", Approved),
        (PAYMENT, "AUTHORIZED", Pending),
        (HOLD, "AUTHORIZED", Approved),
        (PAYMENT, "PENDING", Pending),
        (PAYMENT, "ACCEPTING_PAYMENTS", ActionRequired),
        (PAYMENT, "REQUIRES_ACTION", ActionRequired),
        (PAYMENT, "FAILED", Declined),
        (PAYMENT, "EXPIRED", Declined),
        (PAYMENT, "CANCELED", Declined),
    ],
)
def test_a_status_means_one_thing(asked: Payment, status: str, meant: type[Outcome]) -> None:
    assert isinstance(answered(asked, status=status), meant)


def test_every_status_that_is_described_is_known() -> None:
    for status in SCHEMAS["PaymentRequest"]["properties"]["status"]["enum"]:
        assert not isinstance(answered(status=status), Unknown), status


@pytest.mark.parametrize(
    "members",
    [
        {"request_amount": 100.01},
        {"request_amount": "100.00"},
        {"request_amount": True},
        {"request_amount": None},
        {"currency": "USD"},
        {"reference_id": "cd" * 16},
        {"payment_request_id": ""},
        {"payment_request_id": None},
        {"status": "SETTLED"},
        {"status": None},
        {"status": ["SUCCEEDED"]},
    ],
    ids=str,
)
def test_what_is_not_about_this_money_is_unknown(members: dict[str, Any]) -> None:
    assert isinstance(answered(**({"status": "SUCCEEDED"} | members)), Unknown)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([*SCHEMAS["PaymentRequest"]["properties"], "error_code"])


@pytest.mark.long
@settings(deadline=None)
@given(members=st.dictionaries(NAMES, JSON, max_size=4))
def test_whatever_is_answered_means_something(members: dict[str, Any]) -> None:
    outcome = answered(**members)
    assert isinstance(outcome, get_args(Outcome))
    is_approved = isinstance(outcome, Approved)
    assert not is_approved or (members.get("request_amount", 100), members.get("currency", "PHP")) == (100, "PHP")


def test_a_code_to_scan_is_shown_by_us() -> None:
    body = shapes.described_request(request(channel="QRPH"))
    described(SPEC).check_answer("POST", "/v3/payment_requests", 201, body)
    outcome = answered(**body)
    assert isinstance(outcome, ActionRequired)
    assert (outcome.url, outcome.qr) == ("", f"00020101{body['payment_request_id']}")


@pytest.mark.parametrize(
    "action",
    [
        {"type": "API_POST_REQUEST", "descriptor": "VALIDATE_OTP", "value": "https://api.example.com/otp"},
        {"type": "REDIRECT_CUSTOMER", "descriptor": "WEB_URL", "value": "javascript:alert(1)"},
    ],
    ids=["otp", "script"],
)
def test_what_could_not_be_shown_to_a_payer_is_waited_for(action: dict[str, str]) -> None:
    assert isinstance(answered(actions=[action]), Pending)


@pytest.mark.parametrize("code", FAILURE_CODES)
def test_every_failure_that_is_described_has_a_code_of_the_contract(code: str) -> None:
    outcome = answered(status="FAILED", failure_code=code)
    assert isinstance(outcome, Declined)
    assert code in CODES
    assert outcome.code in REASONS


def test_a_payer_whose_card_is_suspected_reads_only_that_it_was_declined() -> None:
    announced = failure_data(declined("SUSPECTED_FRAUDULENT", "pr-1"))
    assert announced == failure_data(declined("CARD_DECLINED", "pr-1"))


@pytest.mark.parametrize(
    ("code", "retryable"),
    [("ISSUER_UNAVAILABLE", True), ("PROCESSOR_ERROR", True), ("TIMEOUT_ERROR", False), ("CARD_DECLINED", False)],
)
def test_another_provider_may_be_asked_only_where_no_money_can_have_moved(code: str, retryable: bool) -> None:
    assert declined(code).retryable is retryable


@pytest.mark.parametrize("code", ["BRAND_NEW", None, 7, "4000000000000002", "<b>"])
def test_a_failure_that_is_new_counts_as_a_card_that_was_declined(code: object) -> None:
    assert declined(code).code == "card_declined"
    assert "4000" not in declined(code).provider_code


@pytest.mark.parametrize(
    ("status", "code", "meant"),
    [
        (400, "API_VALIDATION_ERROR", Rejected),
        (400, "CARD_EXPIRED", Declined),
        (400, "INVALID_PAYMENT_DETAILS", Declined),
        (400, "PAYMENT_REQUEST_RATE_LIMITED", NotSent),
        (401, "INVALID_API_KEY", Rejected),
        (403, "SKIP_3DS_FORBIDDEN", Rejected),
        (409, "DATA_NOT_FOUND", Unknown),
        (409, "DUPLICATE_ERROR", Unknown),
    ],
)
def test_a_refusal_is_a_payers_or_ours(status: int, code: str, meant: type[Outcome]) -> None:
    refusal = {"error_code": code, "message": "No."}
    if status != 401:
        described(SPEC).check_answer("POST", "/v3/payment_requests", status, refusal)
    assert isinstance(answers.payment(PAYMENT, XenditAnswer(status, code, refusal)), meant)


def test_a_refusal_repeats_no_card() -> None:
    refusal = {"error_code": "API_VALIDATION_ERROR", "message": f"{CARD.number} is no card"}
    outcome = answers.payment(PAYMENT, XenditAnswer(400, "API_VALIDATION_ERROR", refusal))
    assert isinstance(outcome, Rejected)
    assert CARD.number not in outcome.message
