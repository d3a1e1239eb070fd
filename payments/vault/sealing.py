"""AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce, bound to the place where the sealed value lies.

A sealed value is: version 2 (1 byte), ID of the data key (16 bytes), nonce (12 bytes), ciphertext, tag. Those of
version 1 were sealed with a key of VAULT_KEYS itself and are only opened: version (1 byte), length of the key's ID
(1 byte), that ID, nonce, ciphertext, tag.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from payments.vault.data_keys import data_keys
from payments.vault.errors import VaultError, VaultUnavailable
from payments.vault.framing import joined
from payments.vault.keys import unwrapping_key
from payments.vault.purposes import Purpose

DIRECT = b"\x01"
ENVELOPE = b"\x02"
KEY_ID_BYTES = 16
NONCE_BYTES = 12
TAG_BYTES = 16
DAMAGED = "A sealed value was damaged or moved from its place."


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sealed value lies, and the purpose of the keys that seal there."""

    purpose: Purpose
    merchant_id: UUID
    object_id: UUID
    field: str


def seal(plaintext: str, place: Place) -> bytes:
    """`plaintext` sealed with the data key of today, to be opened at the same place only.

    Raises VaultUnavailable where there is no key to be had.
    """
    key_id, key = data_keys().sealing(place.purpose)
    header, nonce = header_of(key_id), secrets.token_bytes(NONCE_BYTES)
    return header + nonce + key.encrypt(nonce, plaintext.encode(), _bound(header, place))


def unseal(sealed: bytes | memoryview, place: Place) -> str:
    """The text that `seal` was given for this place.

    Raises VaultError where `sealed` was damaged or moved, KeyDestroyed where its key was, VaultUnavailable where its
    key cannot be had at the moment.
    """
    header, nonce, ciphertext = _split(bytes(sealed))
    key = _key_of(header, place.purpose)
    try:
        return key.decrypt(nonce, ciphertext, _bound(header, place)).decode()
    except InvalidTag:
        raise VaultError(DAMAGED) from None


def header_of(key_id: UUID) -> bytes:
    """How every value begins that the data key of this ID sealed."""
    return ENVELOPE + key_id.bytes


def _key_of(header: bytes, purpose: Purpose) -> AESGCM:
    if header.startswith(ENVELOPE):
        return data_keys().opening(purpose, UUID(bytes=header[1:]))
    # A damaged ID need not be ASCII: whatever it reads as is then no key of ours.
    key = unwrapping_key(header[2:].decode("ascii", "replace"))
    if key is None:
        raise VaultUnavailable("Sealed with a key that is not in VAULT_KEYS.")
    return AESGCM(key)


def _split(sealed: bytes) -> Sequence[bytes]:
    """Header, nonce, and ciphertext with its tag."""
    match sealed[:1]:
        case b"\x01":
            header_end = 2 + int.from_bytes(sealed[1:2], "big")
        case b"\x02":
            header_end = 1 + KEY_ID_BYTES
        case _:
            raise VaultError("Not a sealed value of a known version.")
    nonce_end = header_end + NONCE_BYTES
    if len(sealed) < nonce_end + TAG_BYTES:
        raise VaultError(DAMAGED)
    return sealed[:header_end], sealed[header_end:nonce_end], sealed[nonce_end:]


def _bound(header: bytes, place: Place) -> bytes:
    return joined([header, place.merchant_id.bytes, place.object_id.bytes, place.field.encode()])
