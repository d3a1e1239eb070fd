"""Signatures of the transparency log's heads: Ed25519, in the form of signed notes (C2SP).

The keys are those of `settings.TRANSPARENCY_KEYS`, which are not in the database. All of them sign, so that a verifier
who has the old key or the new one accepts a head while a key is being rolled.
"""

import base64
import hashlib
from collections.abc import Iterator
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from payments.vault.keys import transparency_keys

ED25519 = b"\x01"


def origin() -> str:
    """Return the name of this service's log, which is that of its keys too."""
    return f"{urlsplit(settings.PUBLIC_URL).netloc}/transparency"


def signed_note(text: str) -> str:
    """Return `text`, which ends with a new line, with a signature by each key; none without keys."""
    lines = [
        f"\N{EM DASH} {origin()} {_base64(_key_id(public) + key.sign(text.encode()))}\n" for key, public in _key_pairs()
    ]
    return f"{text}\n{''.join(lines)}"


def public_keys() -> list[str]:
    """Return the public keys as verifiers take them: name, ID and key with plus signs between them."""
    return [f"{origin()}+{_key_id(public).hex()}+{_base64(ED25519 + public)}" for _, public in _key_pairs()]


def _key_pairs() -> Iterator[tuple[Ed25519PrivateKey, bytes]]:
    for secret in transparency_keys():
        key = Ed25519PrivateKey.from_private_bytes(secret)
        yield key, key.public_key().public_bytes_raw()


def _key_id(public: bytes) -> bytes:
    return hashlib.sha256(origin().encode() + b"\n" + ED25519 + public).digest()[:4]


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()
