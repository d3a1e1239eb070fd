"""The error envelope (contract, section 4). It imports no models: requests are refused before these are loaded."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from payments.domain.shared.errors import ErrorKind

# The status and the error type of each refusal of the domain.
STATUSES: Mapping[ErrorKind, tuple[int, str]] = {
    ErrorKind.NOT_FOUND: (404, "not_found_error"),
    ErrorKind.CONFLICT: (409, "invalid_request_error"),
    ErrorKind.KEY_CONFLICT: (409, "idempotency_error"),
    ErrorKind.INVALID: (422, "validation_error"),
    ErrorKind.FORBIDDEN: (403, "permission_error"),
    ErrorKind.RATE_LIMITED: (429, "rate_limit_error"),
    ErrorKind.UNAVAILABLE: (503, "api_error"),
}


def error_body(
    error: Any, error_type: str, request_id: str, errors: Mapping[str, list[str]] | None = None
) -> dict[str, Any]:
    """Return the envelope of a PaymentError or an ApiError; `errors` holds messages by dotted name."""
    members = {
        "type": error_type,
        "code": error.code,
        "message": error.message,
        "param": error.param,
        "errors": errors,
        "charge_id": error.charge_id,
        "doc_url": f"{settings.PUBLIC_URL}/docs#errors",
        "request_id": request_id,
    }
    return {"error": {name: value for name, value in members.items() if value is not None}}
