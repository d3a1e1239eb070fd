"""Prefetching of data keys, so that no transaction waits for the database or a server that has the key."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from payments.vault.base import VaultUnavailable

# One run may miss the key that opens, the next the key that seals; after more, keys expire as fast as they come.
TRIES = 5

Given = ParamSpec("Given")
Result = TypeVar("Result")

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


def fetched(fetch: Callable[[], Result]) -> Result:
    """Return the result of `fetch`, unless the caller must not wait for it (see `with_prefetched_keys`)."""
    if _must_not_wait.get():
        raise _KeyMissing(fetch)
    return fetch()
