"""Signatures by which a receiver knows that an event comes from us, untouched and just now."""

import hmac
from collections.abc import Sequence
from datetime import UTC, datetime

from standardwebhooks import Webhook


class Signer:
    """Signs for one merchant and mode, with the secrets made ready once for the many events of a batch."""

    def __init__(self, secrets: Sequence[str], prefix: str) -> None:
        """`secrets` are the valid `whsec_…`, newest first; ValueError where there is none.

        `prefix` begins the names of the headers for this interface's client libraries.
        """
        if not secrets:
            raise ValueError("Nothing is sent unsigned.")
        self._webhooks = [Webhook(secret) for secret in secrets]
        # Those libraries are handed the secret's text, and take all of it for the key.
        self._plain = hmac.new(secrets[0].encode(), digestmod="sha256")
        self._plain_timestamp, self._plain_signature = f"{prefix}-Timestamp", f"{prefix}-Signature"

    def headers_of(self, event_id: str, body: bytes, timestamp: datetime) -> dict[str, str]:
        """Return the headers that sign `body` (UTF-8), the event `evt_…`, as sent at `timestamp`.

        Each secret makes one signature of Standard Webhooks 1.0.0, and the newest alone the plain one.
        """
        moment = timestamp.astimezone(UTC)
        seconds, text = str(int(moment.timestamp())), body.decode()
        plain = self._plain.copy()
        plain.update(body)
        return {
            "webhook-id": event_id,
            "webhook-timestamp": seconds,
            "webhook-signature": " ".join([webhook.sign(event_id, moment, text) for webhook in self._webhooks]),
            self._plain_timestamp: seconds,
            self._plain_signature: f"v1={plain.hexdigest()}",
        }
