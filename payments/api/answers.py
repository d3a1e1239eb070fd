"""Answers that are stored: a status and JSON bytes, made once and sent again byte for byte."""

from collections.abc import Mapping

from payments.domain.errors import ErrorKind, PaymentError
from payments.domain.idempotency import StoredAnswer
from payments.models import Attempt, Charge, Source
from payments.rendering.errors import render_error
from payments.rendering.objects import render_charge, render_source
from payments.rendering.wire import to_bytes

# The status and the error type of each refusal of the domain (contract, section 4).
STATUSES: Mapping[ErrorKind, tuple[int, str]] = {
    ErrorKind.NOT_FOUND: (404, "not_found_error"),
    ErrorKind.CONFLICT: (409, "invalid_request_error"),
    ErrorKind.KEY_CONFLICT: (409, "idempotency_error"),
    ErrorKind.INVALID: (422, "validation_error"),
    ErrorKind.FORBIDDEN: (403, "permission_error"),
    ErrorKind.RATE_LIMITED: (429, "rate_limit_error"),
    ErrorKind.UNAVAILABLE: (503, "api_error"),
}


def attempt_answer(attempt: Attempt, charge: Charge, refusal: PaymentError | None) -> StoredAnswer:
    """Return the answer to the request that made the attempt: its charge, or the refusal."""
    if refusal:
        return refusal_answer(refusal, attempt.request_id)
    # Once the provider has named the payment, a request continues it and creates no charge.
    is_created = attempt.kind == Attempt.Kind.AUTHORIZE and not attempt.provider_ref
    return StoredAnswer(201 if is_created else 200, to_bytes(render_charge(charge)))


def source_answer(source: Source) -> StoredAnswer:
    return StoredAnswer(200, to_bytes(render_source(source)))


def refusal_answer(refusal: PaymentError, request_id: str) -> StoredAnswer:
    status, error_type = STATUSES[refusal.kind]
    envelope = render_error(
        type=error_type,
        code=refusal.code,
        message=refusal.message,
        param=refusal.param,
        charge_id=refusal.charge_id,
        request_id=request_id,
    )
    return StoredAnswer(status, to_bytes(envelope))
