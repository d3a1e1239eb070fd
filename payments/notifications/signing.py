"""Signatures by which a receiver knows that an event comes from us, untouched and just now."""

import hmac
from collections.abc import Sequence
from datetime import UTC, datetime

from standardwebhooks import Webhook


def headers_of(event_id: str, body: bytes, timestamp: datetime, secrets: Sequence[str], prefix: str) -> dict[str, str]:
    """The headers that sign `body` (UTF-8), the event `evt_…`, as sent at `timestamp`.

    `secrets` are the merchant's valid `whsec_…`, newest first: each makes one signature of Standard Webhooks 1.0.0,
    and the newest alone the one of this interface's client libraries, named by `prefix`, whose key is the secret's
    whole text. Raises ValueError without a secret.
    """
    if not secrets:
        raise ValueError("Nothing is sent unsigned.")
    moment = timestamp.astimezone(UTC)
    seconds = str(int(moment.timestamp()))
    text = body.decode()
    return {
        "webhook-id": event_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(Webhook(secret).sign(event_id, moment, text) for secret in secrets),
        f"{prefix}-Timestamp": seconds,
        f"{prefix}-Signature": f"v1={hmac.digest(secrets[0].encode(), body, 'sha256').hex()}",
    }
