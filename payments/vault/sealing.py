"""AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce, bound to the place where the sealed value lies.

A sealed value is: version (1 byte), length of the key id (1 byte), key id, nonce (12 bytes), ciphertext, tag.
"""

import secrets
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from payments.vault.errors import VaultError
from payments.vault.framing import joined
from payments.vault.keys import key_ring

VERSION = 1
NONCE_BYTES = 12
TAG_BYTES = 16
DAMAGED = "A sealed value was damaged or moved from its place."


def seal(plaintext: str, *, merchant_id: UUID, object_id: UUID, field: str) -> bytes:
    """`plaintext` sealed with the first vault key, to be opened with the same merchant, object, field only.

    Raises ImproperlyConfigured where the vault keys are malformed.
    """
    ring = key_ring()
    nonce = secrets.token_bytes(NONCE_BYTES)
    place = _place(ring.sealing_id, merchant_id, object_id, field)
    ciphertext = AESGCM(ring.keys[ring.sealing_id]).encrypt(nonce, plaintext.encode(), place)
    return _header(ring.sealing_id) + nonce + ciphertext


def unseal(sealed: bytes | memoryview, *, merchant_id: UUID, object_id: UUID, field: str) -> str:
    """The text that `seal` was given for this merchant, object and field.

    Raises VaultError where `sealed` was damaged, moved or sealed with an unknown key, ImproperlyConfigured
    where the vault keys are malformed.
    """
    key_id, nonce, ciphertext = _split(bytes(sealed))
    key = key_ring().keys.get(key_id)
    if key is None:
        raise VaultError("Sealed with a key that is not in VAULT_KEYS.")
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, _place(key_id, merchant_id, object_id, field)).decode()
    except InvalidTag:
        raise VaultError(DAMAGED) from None


def _split(sealed: bytes) -> tuple[str, bytes, bytes]:
    if len(sealed) < 2 or sealed[0] != VERSION:
        raise VaultError("Not a sealed value of a known version.")
    id_end = 2 + sealed[1]
    nonce_end = id_end + NONCE_BYTES
    if len(sealed) < nonce_end + TAG_BYTES:
        raise VaultError(DAMAGED)
    # A damaged id need not be ASCII: whatever it reads as is then no key of ours.
    key_id = sealed[2:id_end].decode("ascii", "replace")
    return key_id, sealed[id_end:nonce_end], sealed[nonce_end:]


def _header(key_id: str) -> bytes:
    return bytes([VERSION, len(key_id)]) + key_id.encode("ascii")


def _place(key_id: str, merchant_id: UUID, object_id: UUID, field: str) -> bytes:
    return joined([_header(key_id), merchant_id.bytes, object_id.bytes, field.encode()])
