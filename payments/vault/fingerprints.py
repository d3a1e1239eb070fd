"""Keyed digests: equal input gives equal output, and without the key nobody can test card numbers or codes.

All functions raise ImproperlyConfigured where the fingerprint key is malformed.
"""

import hmac
from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from payments.vault.base import joined
from payments.vault.keys import KEY_BYTES, fingerprint_key


def card_fingerprint(number: str) -> bytes:
    """Return 32 bytes that are the same for the same card number at every merchant (HMAC-SHA256, RFC 2104)."""
    return _digest("card number", [number.encode()])


def request_fingerprint(method: str, path: str, body: bytes) -> bytes:
    """Return 32 bytes that are the same for the same request; `path` includes the query."""
    return _digest("request", [method.encode(), path.encode(), body])


def import_fingerprint(*names: str) -> bytes:
    """Return 32 bytes that identify what was imported under `names`; an ID is made of them that nobody can guess."""
    return _digest("import", [name.encode() for name in names])


def sign_in_fingerprint(kind: str, text: str) -> bytes:
    """Return 32 bytes that identify the name or the address of somebody who failed to sign in."""
    return _digest("sign-in", [kind.encode(), text.encode("utf-8", "backslashreplace")])


def invitation_fingerprint(token: str) -> bytes:
    """Return 32 bytes that identify the token of an operator's invitation."""
    return _digest("invitation", [token.encode()])


def factor_cipher() -> Fernet:
    """Return the cipher for the secrets of second factors.

    Its key is the fingerprint key's, as it is for invitations: a data key is destroyed once nothing in the columns
    that are sealed again is under it, and these secrets are within the JSON of a library's table.
    """
    return Fernet(urlsafe_b64encode(_sub_key(fingerprint_key(), "second factor")))


def _digest(purpose: str, parts: list[bytes]) -> bytes:
    return hmac.digest(_sub_key(fingerprint_key(), purpose), joined(parts), "sha256")


@lru_cache(maxsize=8)
def _sub_key(key: bytes, purpose: str) -> bytes:
    """Return a separate key for each purpose (HKDF-SHA256, RFC 5869)."""
    info = f"kaha fingerprint of {purpose}".encode()
    return HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=info).derive(key)
