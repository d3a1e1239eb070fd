"""The two headers that an idempotency key may be sent in."""

from collections.abc import Mapping
from typing import Any

from payments.api.responses.errors import Fault, invalid
from payments.api.validation.fields import CARD_DATA
from payments.sensitive_data.card_numbers import holds_taken_card

# Their names in a request's environment.
HEADERS = ("HTTP_IDEMPOTENCY_KEY", "HTTP_X_IDEMPOTENCY_KEY")
# Joins the values of a header that was sent twice, where other headers have a comma: a key may hold a comma.
SEPARATOR = "\n"
LENGTH_MAX = 255


def idempotency_key_of(environ: Mapping[str, Any]) -> str | None:
    """Return the idempotency key of a request, None without one.

    Raise ApiError 422 for a key that is too long or not printable, and for two keys that differ.
    """
    sent = {key for name in HEADERS if name in environ for key in environ[name].split(SEPARATOR)}
    if not sent:
        return None
    if len(sent) > 1:
        raise _refusal("Two different idempotency keys were sent. Send one, in one header.", "not_together")
    key: str = sent.pop()
    if not key or len(key) > LENGTH_MAX or not key.isprintable():
        raise _refusal(f"An idempotency key is 1 to {LENGTH_MAX} printable characters.", "pattern")
    if holds_taken_card(key):
        raise _refusal(CARD_DATA, "card_data")
    return key


def _refusal(message: str, code: str) -> Exception:
    return invalid([Fault(("header", "Idempotency-Key"), message, code)])
