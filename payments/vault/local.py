"""Key-encryption keys that the environment or a file gives to this process."""

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from payments.vault.errors import VaultError, VaultUnavailable
from payments.vault.framing import joined
from payments.vault.keys import key_ring, unwrapping_key

NAME = "local"
NONCE_BYTES = 12


class LocalKeys:
    """A KeyProvider on `settings.VAULT_KEYS`: AES-256-GCM, the first key wraps, all of them unwrap."""

    def wrap(self, key: bytes, place: bytes) -> tuple[str, bytes]:
        ring = key_ring()
        kek, nonce = f"{NAME}:{ring.wrapping_id}", secrets.token_bytes(NONCE_BYTES)
        return kek, nonce + AESGCM(ring.keys[ring.wrapping_id]).encrypt(nonce, key, _bound(kek, place))

    def unwrap(self, kek: str, wrapped: bytes, place: bytes) -> bytes:
        wrapping = unwrapping_key(kek.partition(":")[2])
        if wrapping is None:
            raise VaultUnavailable(f"A data key is wrapped by {kek}, which is not in VAULT_KEYS.")
        try:
            return AESGCM(wrapping).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], _bound(kek, place))
        except (InvalidTag, ValueError):
            raise VaultError("A wrapped data key was damaged or moved from its place.") from None


def _bound(kek: str, place: bytes) -> bytes:
    return joined([b"data key", kek.encode(), place])
