"""Bulkheads: no caller, provider or provider account may hold the threads that the others need.

A request that finds no place is refused at once, before anything is written. A web process shares PERCENT_SHARED of
its threads out, so that some are always left for requests without a merchant; a worker half of its threads, so that
the sweeps that call no provider continue beside slow providers.
"""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from uuid import UUID

from django.conf import settings

from payments.concurrency.fair_queue import Slots
from payments.domain.catalogue.error_table import INTERNAL_ERROR, PROVIDER_UNAVAILABLE, UNAVAILABLE
from payments.domain.shared.errors import PaymentError

PERCENT_SHARED = 80
PERCENT_OF_WORKER = 50
# Of all threads, at most so many for one account, so that a slow one leaves room for others at the same provider.
PERCENT_OF_ACCOUNT = 30
# At most so many wait for another operation on the same charge.
PERCENT_OF_OPERATIONS = 20
# Of the threads of a web process, at most so many send lists as files, which a reader may take slowly.
PERCENT_OF_DOWNLOADS = 5
DOWNLOADS_OF_ONE = 2


class ProviderBusy(PaymentError):
    """Too many threads wait for this provider or account; nothing was done."""


class Bulkheads:
    """The places of one process with so many threads."""

    def __init__(self, threads: int, percent_shared: int = PERCENT_SHARED) -> None:
        shared = threads * percent_shared // 100
        self.callers = Slots(shared, shared)
        self.providers = Slots(shared, shared)
        self.accounts = Slots(threads * PERCENT_OF_ACCOUNT // 100)
        self.operations = Slots(shared, threads * PERCENT_OF_OPERATIONS // 100)
        self.downloads = Slots(DOWNLOADS_OF_ONE, threads * PERCENT_OF_DOWNLOADS // 100)


class _Held(threading.local):
    """The provider and account for which this thread has a place."""

    name: tuple[str, UUID] | None = None


_held = _Held()
_bulkheads: Bulkheads | None = None


def bulkheads() -> Bulkheads:
    """Return this process's: those of a web process, unless `use` gave it others."""
    return _bulkheads or use(Bulkheads(settings.WEB_THREADS))


def use(chosen: Bulkheads) -> Bulkheads:
    """Give this process other bulkheads, as a worker does when it starts."""
    global _bulkheads
    _bulkheads = chosen
    return chosen


def take_caller_place(caller: Hashable) -> Callable[[], None]:
    """Take a place for a request of the caller, a merchant or an address; return what gives it back.

    Raise PaymentError `internal_error` where there is none.
    """
    callers = bulkheads().callers
    if not callers.take(caller):
        raise _server_busy()
    return partial(callers.give_back, caller)


@contextmanager
def provider_place(provider: str, account_id: UUID) -> Iterator[None]:
    """Hold a place at the provider and at the account, if this thread has none there. Raises ProviderBusy.

    Where no account is needed, as in test mode, each merchant has a share of the provider as an account has.
    """
    name, before, chosen = (provider, account_id), _held.name, bulkheads()
    if before == name:
        yield
        return
    with chosen.accounts.slot(account_id, _provider_busy), chosen.providers.slot(provider, _provider_busy):
        _held.name = name
        try:
            yield
        finally:
            _held.name = before


def take_download_place(holder: Hashable) -> Callable[[], None] | None:
    """Take a place for a file, for an operator or a merchant; return what gives it back, None if there is none."""
    downloads = bulkheads().downloads
    return partial(downloads.give_back, holder) if downloads.take(holder) else None


def busy_providers() -> list[Hashable]:
    """Return the names of the providers at which this process finds no place at the moment."""
    return bulkheads().providers.full()


def _server_busy() -> PaymentError:
    message = "Too many requests are being worked on at once, and nothing was done. Try again in a moment."
    return PaymentError(UNAVAILABLE, INTERNAL_ERROR, message, retry_after_seconds=1)


def _provider_busy() -> ProviderBusy:
    message = "Too many requests wait for the provider, and nothing was done. Try again in a moment."
    return ProviderBusy(UNAVAILABLE, PROVIDER_UNAVAILABLE, message, retry_after_seconds=1)
