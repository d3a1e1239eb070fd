"""The error envelope (contract, section 4)."""

from typing import Any

from django.conf import settings

from payments.rendering.wire import without_absent


def render_error(
    *,
    type: str,  # noqa: A002  the envelope's own word
    code: str,
    message: str,
    request_id: str,
    param: str | None = None,
    errors: dict[str, list[str]] | None = None,
    charge_id: str | None = None,
) -> dict[str, Any]:
    """The body of a refusal; `errors` holds messages by dotted name. `detail` is added by whoever validates."""
    return {
        "error": without_absent(
            {
                "type": type,
                "code": code,
                "message": message,
                "param": param,
                "errors": errors,
                "charge_id": charge_id,
                "doc_url": f"{settings.PUBLIC_URL}/docs#errors",
                "request_id": request_id,
            }
        )
    }
