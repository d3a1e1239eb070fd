"""The table of all that can be measured: each part of the service, and with what its requests are made.

Requests that move money carry an idempotency key of their own, as a careful merchant's do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.benchmark.clients.client import PAGE, Client

PEERS = ("textbook", "books", "company")
AMONG_SEEDED = ("charges", "list", "middle", "last", "quiet")
# What is asked for while a provider takes its time, and otherwise.
MEANWHILE = ("list", "ping", "quiet_list", "quiet_ping")


@dataclass(frozen=True)
class Part:
    """What can be measured; `beside` names what it is compared with, each measured in the same rounds.

    `make` makes so many requests, `again` says whether each can be sent again and again. One without `make` is
    measured in a way of its own, one of `seeded` only where charges were seeded.
    """

    name: str
    make: Callable[[Client, int], Sequence[str]] | None = None
    again: bool = False
    beside: Sequence[str] = ("plain",)
    seeded: bool = False

    @property
    def rows(self) -> Iterator[str]:
        """Yield the names of all that are measured for it."""
        yield self.name
        yield from (f"{self.name}/{name}" for name in self.beside)

    def among_seeded(self) -> "Part":
        """Return the same where charges were seeded: beside none but an empty database, and peers with as many."""
        if not self.make:
            return self
        peers = [name for name in self.beside if name in PEERS]
        beside = ("empty", *peers) if self.name in AMONG_SEEDED and not self.seeded else ()
        return replace(self, beside=beside)


def _charges(client: Client, count: int) -> Sequence[str]:
    return client.new_charges(client.sources(count))


def _callbacks(client: Client, count: int) -> Sequence[str]:
    return client.new_charges(client.sources(count, redirect=client.redirect))


def _list(client: Client, count: int) -> Sequence[str]:
    """Return the newest page, where there is more than one."""
    client.charged(PAGE + 1)
    return [client.page()]


def _middle(client: Client, count: int) -> Sequence[str]:
    return [client.page(f"&start_after={client.seeded.middle}")]


def _last(client: Client, count: int) -> Sequence[str]:
    return [client.page(f"&start_after={client.seeded.before_last}")]


def _quiet(client: Client, count: int) -> Sequence[str]:
    return [replace(client, secret_key=client.seeded.quiet_key).page()]


SEEDED: dict[str, Any] = {"again": True, "beside": (), "seeded": True}
PARTS = {
    part.name: part
    for part in (
        Part("sources", Client.new_sources),
        Part("charges", _charges, beside=("plain", *PEERS)),
        # Delivered alongside.
        Part("callbacks", _callbacks, beside=()),
        Part("list", _list, again=True, beside=("plain", "company")),
        Part("middle", _middle, **SEEDED),
        Part("last", _last, **SEEDED),
        # Of a merchant that went quiet.
        Part("quiet", _quiet, **SEEDED),
        # At a provider that takes a second.
        Part("slow", beside=MEANWHILE),
    )
}
