"""Wrapping of data keys by key-encryption keys, which are never in the database."""

import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Protocol, cast
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.utils.module_loading import import_string

from payments import clock, ids
from payments.vault.base import Purpose, VaultError, VaultUnavailable, joined
from payments.vault.keys import KEY_BYTES, key_ring

NONCE_BYTES = 12


class KeyProvider(Protocol):
    """A provider of key-encryption keys. The names of its keys begin with its own name and a colon.

    A wrapped key is bound to its `place`. Both methods raise VaultUnavailable where the key-encryption key is missing.
    """

    def wrap(self, key: bytes, place: bytes) -> tuple[str, bytes]:
        """Return the name of the newest key-encryption key, and `key` wrapped by it."""

    def unwrap(self, kek: str, wrapped: bytes, place: bytes) -> bytes:
        """Return the key that `kek` wrapped. Raises VaultError where it was damaged or moved."""


class LocalKeys:
    """A KeyProvider on `settings.VAULT_KEYS`: AES-256-GCM, the first key wraps, all of them unwrap."""

    def wrap(self, key: bytes, place: bytes) -> tuple[str, bytes]:
        ring = key_ring()
        kek, nonce = f"local:{ring.wrapping_id}", secrets.token_bytes(NONCE_BYTES)
        return kek, nonce + AESGCM(ring.keys[ring.wrapping_id]).encrypt(nonce, key, _bound(kek, place))

    def unwrap(self, kek: str, wrapped: bytes, place: bytes) -> bytes:
        # VAULT_KEYS may be empty where a transit engine is used.
        wrapping = key_ring().keys.get(kek.partition(":")[2]) if settings.VAULT_KEYS else None
        if wrapping is None:
            raise VaultUnavailable(f"A data key is wrapped by {kek}, which is not in VAULT_KEYS.")
        try:
            return AESGCM(wrapping).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], _bound(kek, place))
        except (InvalidTag, ValueError):
            raise VaultError("A wrapped data key was damaged or moved from its place.") from None


def _bound(kek: str, place: bytes) -> bytes:
    return joined([b"data key", kek.encode(), place])


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A data key, wrapped by the key-encryption key named `kek`."""

    id: UUID
    purpose: Purpose
    kek: str
    wrapped: bytes = field(repr=False)
    created_at: datetime


# Imported on first use, because most installations never load the client of HashiCorp Vault.
PROVIDERS = {"local": "payments.vault.key_wraps.LocalKeys", "transit": "payments.vault.transit.TransitKeys"}


def new_key(purpose: Purpose) -> WrappedKey:
    """Create a data key; return it wrapped. Raises VaultUnavailable."""
    key_id = ids.new_id()
    kek, wrapped = _newest_provider().wrap(secrets.token_bytes(KEY_BYTES), _place(purpose, key_id))
    return WrappedKey(key_id, purpose, kek, wrapped, clock.now())


def opens(key: WrappedKey) -> bool:
    """Return whether the vault can unwrap `key` at the moment."""
    try:
        unwrap(key)
    except (VaultError, VaultUnavailable):
        return False
    return True


def unwrap(key: WrappedKey) -> bytes:
    """Return the data key itself. Raises VaultUnavailable, VaultError."""
    return _provider(key.kek.partition(":")[0]).unwrap(key.kek, key.wrapped, _place(key.purpose, key.id))


def rewrap(key: WrappedKey) -> WrappedKey:
    """Return the same data key, wrapped by the newest key-encryption key. Raises VaultUnavailable, VaultError."""
    kek, wrapped = _newest_provider().wrap(unwrap(key), _place(key.purpose, key.id))
    return replace(key, kek=kek, wrapped=wrapped)


def _newest_provider() -> KeyProvider:
    return _provider("transit" if settings.VAULT_TRANSIT_URL else "local")


@cache
def _provider(name: str) -> KeyProvider:
    return cast(KeyProvider, import_string(PROVIDERS[name])())


def _place(purpose: Purpose, key_id: UUID) -> bytes:
    return joined([purpose.encode(), key_id.bytes])
