"""AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce, bound to the place where the sealed value lies.

A sealed value is: version 2 (1 byte), ID of the data key (16 bytes), nonce (12 bytes), ciphertext, tag.
"""

import secrets
from dataclasses import dataclass
from uuid import UUID

from cryptography.exceptions import InvalidTag

from payments.vault.data_keys import data_keys
from payments.vault.errors import VaultError
from payments.vault.framing import joined
from payments.vault.purposes import Purpose

VERSION = b"\x02"
HEADER_BYTES = 17
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
    """How every value begins that the data key of this ID sealed."""
    return VERSION + key_id.bytes


def _bound(header: bytes, place: Place) -> bytes:
    return joined([header, place.merchant_id.bytes, place.object_id.bytes, place.field.encode()])
