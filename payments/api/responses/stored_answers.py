"""Stored answers: a status and JSON bytes, rendered once and replayed byte for byte."""

from collections.abc import Callable
from typing import Any

from payments.api.responses.error_envelope import error_body
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.idempotency import StoredAnswer
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Attempt, Charge
from payments.rendering.objects.api_object import ApiObject
from payments.rendering.objects.charges import CHARGE


def attempt_answer(attempt: Attempt, charge: Charge, refusal: PaymentError | None) -> StoredAnswer:
    """Return the answer to the request that made the attempt: its charge, or the refusal."""
    if refusal:
        return refusal_answer(refusal, attempt.request_id)
    # Once the provider has named the payment, a request continues it and creates no charge.
    is_created = attempt.kind == Attempt.Kind.AUTHORIZE and not attempt.provider_ref
    return StoredAnswer(201 if is_created else 200, to_bytes(CHARGE.render(charge)))


def answer_of(shown: ApiObject, status: int = 200) -> Callable[[Any], StoredAnswer]:
    """Return what makes the answer with a row, shown as this object."""
    return lambda row: StoredAnswer(status, to_bytes(shown.render(row)))


def refusal_answer(refusal: PaymentError, request_id: str) -> StoredAnswer:
    return StoredAnswer(refusal.kind.status, to_bytes(error_body(refusal, refusal.kind.type, request_id)))
