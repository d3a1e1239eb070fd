"""The data keys that this process has at hand: few, for a short time, and nowhere but in its memory."""

import time
from collections.abc import Callable, Hashable
from datetime import datetime
from threading import Lock
from typing import Any, Protocol, TypeVar
from uuid import UUID

from cachetools import TTLCache
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from payments import clock
from payments.vault import wrapping
from payments.vault.at_hand import fetched
from payments.vault.errors import KeyDestroyed
from payments.vault.purposes import Purpose
from payments.vault.wrapping import WrappedKey

# How long a process goes on sealing with a key after it was retired, and opening with one after it was destroyed.
SEALING_SECONDS = 30
OPENING_SECONDS = 300
OPENING_COUNT = 256

Kept = TypeVar("Kept")
SealingKey = tuple[UUID, AESGCM]


class DataKeyStore(Protocol):
    """Where wrapped data keys lie. What it keeps is kept whatever becomes of the caller's transaction."""

    def newest(self, purpose: Purpose, since: datetime) -> WrappedKey | None:
        """The newest key that seals, if it was made after `since`."""

    def find(self, purpose: Purpose, key_id: UUID) -> WrappedKey | None:
        """The key of this ID, unless it was destroyed."""

    def keep(self, key: WrappedKey, since: datetime) -> WrappedKey:
        """Keeps `key` and returns it, or the one that `newest` has by now: of many at once, one is kept."""


class DataKeys:
    """The keys of one process, by a store of the wrapped ones; `timer` tells seconds."""

    def __init__(self, store: DataKeyStore, timer: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._lock = Lock()
        self._sealing: TTLCache[Purpose, SealingKey] = TTLCache(len(Purpose), SEALING_SECONDS, timer)
        self._opening: TTLCache[tuple[Purpose, UUID], AESGCM] = TTLCache(OPENING_COUNT, OPENING_SECONDS, timer)

    def sealing(self, purpose: Purpose) -> SealingKey:
        """The key that seals now, made where there is none. Raises VaultUnavailable."""
        known = self._recall(self._sealing, purpose)
        return known or fetched(lambda: self._fetch_sealing(purpose))

    def opening(self, purpose: Purpose, key_id: UUID) -> AESGCM:
        """The key of this ID. Raises KeyDestroyed, VaultUnavailable, VaultError."""
        known = self._recall(self._opening, (purpose, key_id))
        return known or fetched(lambda: self._fetch_opening(purpose, key_id))

    def forget_sealing(self) -> None:
        """Has the store asked for the key that seals before the next value is sealed."""
        with self._lock:
            self._sealing.clear()

    def _fetch_sealing(self, purpose: Purpose) -> SealingKey:
        since = clock.now() - purpose.seals_for
        key = self._store.newest(purpose, since)
        if key is None:
            key = self._store.keep(wrapping.new_key(purpose), since)
        cipher = self._recall(self._opening, (purpose, key.id)) or self._unwrap(key)
        return self._remember(self._sealing, purpose, (key.id, cipher))

    def _fetch_opening(self, purpose: Purpose, key_id: UUID) -> AESGCM:
        key = self._store.find(purpose, key_id)
        if key is None:
            raise KeyDestroyed("The data key was destroyed.")
        return self._unwrap(key)

    def _unwrap(self, key: WrappedKey) -> AESGCM:
        return self._remember(self._opening, (key.purpose, key.id), AESGCM(wrapping.unwrap(key)))

    def _recall(self, cache: "TTLCache[Any, Kept]", name: Hashable) -> Kept | None:
        with self._lock:
            # Looking something up leaves what is over where it is.
            cache.expire()
            return cache.get(name)

    def _remember(self, cache: "TTLCache[Any, Kept]", name: Hashable, kept: Kept) -> Kept:
        with self._lock:
            cache[name] = kept
        return kept


_keys: DataKeys | None = None


def use_store(store: DataKeyStore) -> None:
    """Has this process find its data keys in `store` from now on, with none of them at hand."""
    global _keys
    _keys = DataKeys(store)


def forget_sealing_keys() -> None:
    """This process seals nothing more with a key that was just retired; others go on for SEALING_SECONDS."""
    data_keys().forget_sealing()


def data_keys() -> DataKeys:
    """The keys of this process."""
    assert _keys is not None, "payments.apps fills in the store of data keys"  # nosec B101 # else the caller fails
    return _keys
