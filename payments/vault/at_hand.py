"""Fetching a key asks the database, and perhaps another server: never inside a caller's transaction."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from payments.vault.errors import VaultUnavailable

# The first may lack the key that opens and then the one that seals; after more, keys vanish as fast as they come.
TRIES = 5

Given = ParamSpec("Given")
Result = TypeVar("Result")

_nobody_waits: ContextVar[bool] = ContextVar("kaha_vault_nobody_waits", default=False)


class _KeyNotAtHand(Exception):
    """Ends a function that must not wait for a key; `fetch` gets it."""

    def __init__(self, fetch: Callable[[], object]) -> None:
        super().__init__()
        self.fetch = fetch


def keys_at_hand(do: Callable[Given, Result]) -> Callable[Given, Result]:
    """Has `do`, which seals or opens inside a transaction of its own, never wait for a key there.

    Where one is not at hand, `do` is ended by an exception, which undoes its transaction; the key is fetched with
    nothing held, and `do` begins again. Called by another such function, it is that one which begins again. Raises
    VaultUnavailable, with nothing done, where the key cannot be had.
    """

    @wraps(do)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        if _nobody_waits.get():
            return do(*args, **kwargs)
        for _ in range(TRIES):
            waits_before = _nobody_waits.set(True)
            try:
                return do(*args, **kwargs)
            except _KeyNotAtHand as missing:
                fetch = missing.fetch
            finally:
                _nobody_waits.reset(waits_before)
            fetch()
        raise VaultUnavailable("Keys are forgotten faster than they are fetched.")

    return run


def fetched(fetch: Callable[[], Result]) -> Result:
    """What `fetch` returns, unless nobody may wait for it here (see `keys_at_hand`)."""
    if _nobody_waits.get():
        raise _KeyNotAtHand(fetch)
    return fetch()
