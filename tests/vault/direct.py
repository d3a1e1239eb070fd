"""Values as they were sealed before there were data keys: with a key of VAULT_KEYS itself."""

import secrets

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from payments.vault import Place
from payments.vault.framing import joined
from payments.vault.keys import key_ring


def sealed_directly(text: str, place: Place) -> bytes:
    """A sealed value of version 1."""
    ring, nonce = key_ring(), secrets.token_bytes(12)
    header = bytes([1, len(ring.wrapping_id)]) + ring.wrapping_id.encode()
    bound = joined([header, place.merchant_id.bytes, place.object_id.bytes, place.field.encode()])
    return header + nonce + AESGCM(ring.keys[ring.wrapping_id]).encrypt(nonce, text.encode(), bound)
