"""Signatures by which a receiver knows that an event comes from us, untouched and just now."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime

PREFIX = "whsec_"


class Signer:
    """Signs for one merchant and mode, with the secrets made ready once for the many events of a batch."""

    def __init__(self, secrets: Sequence[str], prefix: str) -> None:
        """`secrets` are the valid `whsec_…`, newest first; ValueError where there is none.

        `prefix` begins the names of the headers for this interface's client libraries.
        """
        if not secrets:
            raise ValueError("Nothing is sent unsigned.")
        self._keys = [b64decode(secret.removeprefix(PREFIX)) for secret in secrets]
        # Those libraries are handed the secret's text, and take all of it for the key.
        # Their header holds one signature: until the overlap is over, by the secret that every receiver still has.
        self._plain_key = secrets[-1].encode()
        self._plain_timestamp, self._plain_signature = f"{prefix}-Timestamp", f"{prefix}-Signature"

    def headers_of(self, event_id: str, body: bytes, timestamp: datetime) -> dict[str, str]:
        """Return the headers that sign `body`, the event `evt_…`, as sent at `timestamp`.

        Each secret makes one signature of Standard Webhooks 1.0.0, and the oldest alone the plain one.
        """
        seconds = str(int(timestamp.timestamp()))
        signed = f"{event_id}.{seconds}.".encode() + body
        digests = [hmac.digest(key, signed, "sha256") for key in self._keys]
        return {
            "webhook-id": event_id,
            "webhook-timestamp": seconds,
            "webhook-signature": " ".join([f"v1,{b64encode(digest).decode()}" for digest in digests]),
            self._plain_timestamp: seconds,
            self._plain_signature: f"v1={hmac.digest(self._plain_key, body, 'sha256').hex()}",
        }


def shown_headers(event_id: str, timestamp: datetime, prefix: str) -> dict[str, str]:
    """Return what `Signer` adds to a call, for people; nothing keeps a signature, so that `…` stands for it."""
    headers = Signer([PREFIX], prefix).headers_of(event_id, b"", timestamp)
    return {name: "…" if name.endswith(("-signature", "-Signature")) else value for name, value in headers.items()}
