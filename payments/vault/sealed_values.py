"""AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce, bound to the row and column of the sealed value.

A sealed value is: version 2 (1 byte), ID of the data key (16 bytes), nonce (12 bytes), ciphertext, tag.
"""

import secrets
from dataclasses import dataclass
from uuid import UUID

from cryptography.exceptions import InvalidTag

from payments.vault.base import Purpose, VaultError, joined
from payments.vault.data_keys import data_keys

VERSION = b"\x02"
HEADER_BYTES = 17
NONCE_BYTES = 12
TAG_BYTES = 16
DAMAGED = "A sealed value was damaged or moved from its place."


@dataclass(frozen=True, slots=True)
class Place:
    """The row and column of a sealed value, and the purpose of the keys that seal it."""

    purpose: Purpose
    merchant_id: UUID
    object_id: UUID
    field: str


def seal(plaintext: str, place: Place) -> bytes:
    """Return `plaintext` sealed with the current data key; it opens at the same place only. Raises VaultUnavailable."""
    key_id, key = data_keys().sealing(place.purpose)
    header, nonce = header_of(key_id), secrets.token_bytes(NONCE_BYTES)
    return header + nonce + key.encrypt(nonce, plaintext.encode(), _bound(header, place))


def unseal(sealed: bytes | memoryview, place: Place) -> str:
    """Return the text that was sealed for this place.

    Raises VaultError where `sealed` was damaged or moved, KeyDestroyed where its key was destroyed, VaultUnavailable
    where its key cannot be fetched now.
    """
    value = bytes(sealed)
    if value[:1] != VERSION:
        raise VaultError("Not a sealed value of a known version.")
    nonce_end = HEADER_BYTES + NONCE_BYTES
    if len(value) < nonce_end + TAG_BYTES:
        raise VaultError(DAMAGED)
    header, nonce, ciphertext = value[:HEADER_BYTES], value[HEADER_BYTES:nonce_end], value[nonce_end:]
    key = data_keys().opening(place.purpose, UUID(bytes=header[1:]))
    try:
        return key.decrypt(nonce, ciphertext, _bound(header, place)).decode()
    except InvalidTag:
        raise VaultError(DAMAGED) from None


def header_of(key_id: UUID) -> bytes:
    """Return the first bytes of every value that the data key of this ID sealed."""
    return VERSION + key_id.bytes


def _bound(header: bytes, place: Place) -> bytes:
    return joined([header, place.merchant_id.bytes, place.object_id.bytes, place.field.encode()])
