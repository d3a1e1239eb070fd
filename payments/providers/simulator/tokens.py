"""The unguessable addresses of the payer's pages."""

import base64
import hashlib

from django.conf import settings
from django.utils.crypto import salted_hmac


def page_token(reference: str) -> str:
    """Return the token of a payment's page, 43 URL-safe characters of 256 bits.

    Derived, so that the same address is given whenever the payment is asked for; only its digest is stored.
    """
    mac = salted_hmac("kaha.simulator.page", reference, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


def token_digest(token: str) -> bytes:
    """Return the SHA-256 digest by which a page is found."""
    return hashlib.sha256(token.encode()).digest()


def page_url(token: str) -> str:
    """Return the absolute address of the page with this token."""
    return f"{settings.PUBLIC_URL}/simulator/pay/{token}"
