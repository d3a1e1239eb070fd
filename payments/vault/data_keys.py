"""The cache of unwrapped data keys: few of them, for a short time, and only in the memory of this process.

They are prefetched, so that no transaction waits for the database or a server that has the key.
"""

import time
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from datetime import datetime
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, Protocol, TypeVar
from uuid import UUID

from cachetools import TTLCache
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from payments import clock
from payments.vault import key_wraps
from payments.vault.base import KeyDestroyed, Purpose, VaultUnavailable
from payments.vault.key_wraps import WrappedKey

# A process may seal with a key for so long after its retirement, and open with one for so long after its destruction.
SEALING_SECONDS = 30
OPENING_SECONDS = 300
OPENING_COUNT = 256
# One run may miss the key that opens, the next the key that seals; after more, keys expire as fast as they come.
TRIES = 5

Kept = TypeVar("Kept")
Given = ParamSpec("Given")
Result = TypeVar("Result")
SealingKey = tuple[UUID, AESGCM]

_must_not_wait: ContextVar[bool] = ContextVar("kaha_vault_must_not_wait", default=False)


class _KeyMissing(Exception):
    """Ends a function that must not wait for a key; `fetch` fetches it."""

    def __init__(self, fetch: Callable[[], object]) -> None:
        super().__init__()
        self.fetch = fetch


def with_prefetched_keys(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorate a `function` that seals or opens inside its own transaction, so that it never waits for a key there.

    Where a key is not cached, an exception ends the function and rolls its transaction back; the key is fetched without
    a transaction, and the function runs again. Of nested calls, the outermost one runs again. Raises VaultUnavailable,
    with nothing done, where the key cannot be fetched.
    """

    @wraps(function)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        if _must_not_wait.get():
            return function(*args, **kwargs)
        for _ in range(TRIES):
            token = _must_not_wait.set(True)
            try:
                return function(*args, **kwargs)
            except _KeyMissing as missing:
                fetch = missing.fetch
            finally:
                _must_not_wait.reset(token)
            fetch()
        raise VaultUnavailable("Keys expire faster than they are fetched.")

    return run


def _fetched(fetch: Callable[[], Result]) -> Result:
    """Return the result of `fetch`, unless the caller must not wait for it (see `with_prefetched_keys`)."""
    if _must_not_wait.get():
        raise _KeyMissing(fetch)
    return fetch()


class DataKeyStore(Protocol):
    """A store of wrapped data keys, whose writes survive a rollback of the caller's transaction."""

    def newest(self, purpose: Purpose, since: datetime) -> WrappedKey | None:
        """Return the newest key that seals, if it was made after `since`."""

    def find(self, purpose: Purpose, key_id: UUID) -> WrappedKey | None:
        """Return the key of this ID, unless it was destroyed."""

    def keep(self, key: WrappedKey, since: datetime) -> WrappedKey:
        """Store `key` and return it, or return the key that `newest` has by now: of several processes, one wins."""


class DataKeys:
    """The data keys of one process, with a store of the wrapped ones and the clock `timer`, in seconds."""

    def __init__(self, store: DataKeyStore, timer: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._lock = Lock()
        self._sealing: TTLCache[Purpose, SealingKey] = TTLCache(len(Purpose), SEALING_SECONDS, timer)
        self._opening: TTLCache[tuple[Purpose, UUID], AESGCM] = TTLCache(OPENING_COUNT, OPENING_SECONDS, timer)

    def sealing(self, purpose: Purpose) -> SealingKey:
        """Return the key that seals now, created where there is none. Raises VaultUnavailable."""
        known = self._recall(self._sealing, purpose)
        return known or _fetched(lambda: self._fetch_sealing(purpose))

    def opening(self, purpose: Purpose, key_id: UUID) -> AESGCM:
        """Return the key of this ID. Raises KeyDestroyed, VaultUnavailable, VaultError."""
        known = self._recall(self._opening, (purpose, key_id))
        return known or _fetched(lambda: self._fetch_opening(purpose, key_id))

    def forget_sealing(self) -> None:
        """Forget the keys that seal, so that the next value asks the store."""
        with self._lock:
            self._sealing.clear()

    def _fetch_sealing(self, purpose: Purpose) -> SealingKey:
        since = clock.now() - purpose.seals_for
        key = self._store.newest(purpose, since)
        if key is None:
            key = self._store.keep(key_wraps.new_key(purpose), since)
        cipher = self._recall(self._opening, (purpose, key.id)) or self._unwrap(key)
        return self._remember(self._sealing, purpose, (key.id, cipher))

    def _fetch_opening(self, purpose: Purpose, key_id: UUID) -> AESGCM:
        key = self._store.find(purpose, key_id)
        if key is None:
            raise KeyDestroyed("The data key was destroyed.")
        return self._unwrap(key)

    def _unwrap(self, key: WrappedKey) -> AESGCM:
        return self._remember(self._opening, (key.purpose, key.id), AESGCM(key_wraps.unwrap(key)))

    def _recall(self, cache: "TTLCache[Any, Kept]", name: Hashable) -> Kept | None:
        with self._lock:
            # A lookup alone does not remove expired entries.
            cache.expire()
            return cache.get(name)

    def _remember(self, cache: "TTLCache[Any, Kept]", name: Hashable, kept: Kept) -> Kept:
        with self._lock:
            cache[name] = kept
        return kept


_keys: DataKeys | None = None


def use_store(store: DataKeyStore) -> None:
    """Use `store` for the data keys of this process from now on, with an empty cache."""
    global _keys
    _keys = DataKeys(store)


def forget_sealing_keys() -> None:
    """Stop sealing with retired keys in this process; other processes stop within SEALING_SECONDS."""
    data_keys().forget_sealing()


def data_keys() -> DataKeys:
    """Return the data keys of this process."""
    assert _keys is not None, "payments.apps sets the store of data keys"  # nosec B101 # else the caller fails
    return _keys
