"""Keyed digests: equal input gives equal output, and without the key nobody can try all card numbers or codes."""

import hmac
from functools import lru_cache

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from payments.vault.framing import joined
from payments.vault.keys import KEY_BYTES, fingerprint_key


def card_fingerprint(number: str) -> bytes:
    """32 bytes that are the same for the same card number, for every merchant (HMAC-SHA256, RFC 2104).

    Raises ImproperlyConfigured where the fingerprint key is malformed.
    """
    return _digest("card number", [number.encode()])


def request_fingerprint(method: str, path: str, body: bytes) -> bytes:
    """32 bytes that are the same for the same request; `path` includes the query (HMAC-SHA256, RFC 2104).

    Raises ImproperlyConfigured where the fingerprint key is malformed.
    """
    return _digest("request", [method.encode(), path.encode(), body])


def authenticator_key(user_id: int, seed: bytes) -> bytes:
    """The 20 bytes that an operator's authenticator app knows, of the seed that the database has (RFC 4226, 4).

    Raises ImproperlyConfigured where the fingerprint key is malformed.
    """
    return _digest("authenticator", [str(user_id).encode(), seed])[:20]


def recovery_code_fingerprint(user_id: int, code: str) -> bytes:
    """32 bytes by which an operator's recovery code is recognised, of anybody's own (HMAC-SHA256, RFC 2104).

    Raises ImproperlyConfigured where the fingerprint key is malformed.
    """
    return _digest("recovery code", [str(user_id).encode(), code.encode()])


def _digest(purpose: str, parts: list[bytes]) -> bytes:
    return hmac.digest(_sub_key(fingerprint_key(), purpose), joined(parts), "sha256")


@lru_cache(maxsize=8)
def _sub_key(key: bytes, purpose: str) -> bytes:
    """A key of its own for each purpose (HKDF-SHA256, RFC 5869)."""
    info = f"kaha fingerprint of {purpose}".encode()
    return HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=info).derive(key)
