"""The error envelope (contract, section 4). It imports no models: requests are refused before these are loaded."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings


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
