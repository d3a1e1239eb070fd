"""Stored answers: a status and JSON bytes, rendered once and replayed byte for byte."""

from payments.api.responses.error_envelope import error_body
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.idempotency import StoredAnswer
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Attempt, Charge, Source
from payments.rendering.objects.charges import CHARGE
from payments.rendering.objects.sources import SOURCE


def attempt_answer(attempt: Attempt, charge: Charge, refusal: PaymentError | None) -> StoredAnswer:
    """Return the answer to the request that made the attempt: its charge, or the refusal."""
    if refusal:
        return refusal_answer(refusal, attempt.request_id)
    # Once the provider has named the payment, a request continues it and creates no charge.
    is_created = attempt.kind == Attempt.Kind.AUTHORIZE and not attempt.provider_ref
    return StoredAnswer(201 if is_created else 200, to_bytes(CHARGE.render(charge)))


def source_answer(source: Source) -> StoredAnswer:
    return StoredAnswer(200, to_bytes(SOURCE.render(source)))


def refusal_answer(refusal: PaymentError, request_id: str) -> StoredAnswer:
    return StoredAnswer(refusal.kind.status, to_bytes(error_body(refusal, refusal.kind.type, request_id)))
