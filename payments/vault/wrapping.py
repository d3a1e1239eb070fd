"""Data keys as they lie in the database: wrapped by a key-encryption key that never lies there."""

import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from payments import clock, ids
from payments.vault.framing import joined
from payments.vault.keys import KEY_BYTES
from payments.vault.purposes import Purpose


class KeyProvider(Protocol):
    """Keeper of key-encryption keys. Its names of them begin with its own name and a colon.

    `place` is bound to what is wrapped. Both raise VaultUnavailable where the key cannot be had.
    """

    def wrap(self, key: bytes, place: bytes) -> tuple[str, bytes]:
        """The name of the newest key-encryption key, and `key` wrapped by it."""

    def unwrap(self, kek: str, wrapped: bytes, place: bytes) -> bytes:
        """What the key-encryption key of this name wrapped. Raises VaultError where it was damaged or moved."""


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A data key, wrapped by the key-encryption key named `kek`."""

    id: UUID
    purpose: Purpose
    kek: str
    wrapped: bytes = field(repr=False)
    created_at: datetime


# Imported when first asked, for most installations never load what speaks to HashiCorp Vault.
PROVIDERS = {"local": "payments.vault.local.LocalKeys", "transit": "payments.vault.transit.TransitKeys"}


def new_key(purpose: Purpose) -> WrappedKey:
    """A new data key. Raises VaultUnavailable."""
    key_id = ids.new_id()
    kek, wrapped = _newest_provider().wrap(secrets.token_bytes(KEY_BYTES), _place(purpose, key_id))
    return WrappedKey(key_id, purpose, kek, wrapped, clock.now())


def unwrap(key: WrappedKey) -> bytes:
    """The data key itself. Raises VaultUnavailable, VaultError."""
    return _provider(key.kek.partition(":")[0]).unwrap(key.kek, key.wrapped, _place(key.purpose, key.id))


def rewrap(key: WrappedKey) -> WrappedKey:
    """The same data key, wrapped by the newest key-encryption key. Raises VaultUnavailable, VaultError."""
    kek, wrapped = _newest_provider().wrap(unwrap(key), _place(key.purpose, key.id))
    return replace(key, kek=kek, wrapped=wrapped)


def _newest_provider() -> KeyProvider:
    return _provider("transit" if settings.VAULT_TRANSIT_URL else "local")


@cache
def _provider(name: str) -> KeyProvider:
    return cast(KeyProvider, import_string(PROVIDERS[name])())


def _place(purpose: Purpose, key_id: UUID) -> bytes:
    return joined([purpose.encode(), key_id.bytes])
