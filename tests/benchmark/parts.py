"""The table of all that can be measured: each part of the service, and with what its requests are made.

Requests that move money carry an idempotency key of their own, as a careful merchant's do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from payments.quickstart.payment import REFUNDED
from tests.benchmark.clients.client import APPROVED, DECLINED, PAGE, Client

BESIDE = {
    "plain": "a plain view, the same JSON",
    "textbook": "textbook, in one transaction",
    "books": "textbook with books, in two",
    "company": "textbook as a company runs it",
    "empty": "on a database without the seeded charges",
    "list": "a list meanwhile",
    "ping": "GET /ping meanwhile",
    "quiet_list": "a list otherwise",
    "quiet_ping": "GET /ping otherwise",
}
PEERS = ("textbook", "books", "company")
AMONG_SEEDED = ("charges", "list", "middle", "last", "quiet")


@dataclass(frozen=True)
class Part:
    """What can be measured; `beside` names what it is compared with, each measured in the same rounds.

    `make` makes so many requests, `again` says whether each can be sent again and again. One without `make` is
    measured in a way of its own, one of `seeded` only where charges were seeded.
    """

    name: str
    title: str
    make: Callable[[Client, int], Sequence[str]] | None = None
    again: bool = False
    beside: Sequence[str] = ("plain",)
    seeded: bool = False

    @property
    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the names of all that are measured for it, with their titles."""
        yield self.name, self.title
        yield from ((f"{self.name}/{name}", f"  {BESIDE[name]}") for name in self.beside)

    def among_seeded(self) -> "Part":
        """Return the same where charges were seeded: beside none but an empty database, and peers with as many."""
        if not self.make:
            return self
        peers = [name for name in self.beside if name in PEERS]
        beside = ("empty", *peers) if self.name in AMONG_SEEDED and not self.seeded else ()
        return replace(self, beside=beside)


def _charges(client: Client, count: int, number: str = APPROVED, **members: Any) -> Sequence[str]:
    return client.new_charges(client.sources(count, number), **members)


def _callbacks(client: Client, count: int) -> Sequence[str]:
    redirect = dict.fromkeys(("success", "fail", "notify"), client.receiver)
    return client.new_charges(client.sources(count, redirect=redirect))


def _paid(client: Client, count: int) -> Sequence[str]:
    return client.payments(client.send(client.new_sessions(count)).ids)


def _replayed(client: Client, count: int) -> Sequence[str]:
    """Return requests that were answered already, under the same keys."""
    requests = _charges(client, count)
    client.charge(requests)
    return requests


def _capture(client: Client, count: int) -> Sequence[str]:
    return client.operations(client.charged(count, capture=False), "capture", {})


def _refund(client: Client, count: int) -> Sequence[str]:
    return client.operations(client.charged(count), "refund", {"amount": REFUNDED})


def _list(client: Client, count: int) -> Sequence[str]:
    """Return the newest page, where there is more than one."""
    client.charged(PAGE + 1)
    return [client.page()]


def _retrieve(client: Client, count: int) -> Sequence[str]:
    return [client.request("GET", f"/v2/charges/{charge}") for charge in client.charged(count)]


def _middle(client: Client, count: int) -> Sequence[str]:
    return [client.page(f"&start_after={client.seeded.middle}")]


def _last(client: Client, count: int) -> Sequence[str]:
    return [client.page(f"&start_after={client.seeded.before_last}")]


def _quiet(client: Client, count: int) -> Sequence[str]:
    return [replace(client, secret_key=client.seeded.quiet_key).page()]


MEANWHILE = ("list", "ping", "quiet_list", "quiet_ping")
SEEDED: dict[str, Any] = {"again": True, "beside": (), "seeded": True}
PARTS = {
    part.name: part
    for part in (
        Part("sources", "POST /v2/sources/", Client.new_sources),
        Part("charges", "POST /v2/charges/, captured", _charges, beside=("plain", *PEERS)),
        Part("sessions", "POST /v2/checkout_sessions/", Client.new_sessions, beside=()),
        Part("paid", "the page of a session, paid by card", _paid, beside=()),
        Part("callbacks", "POST /v2/charges/, callbacks delivered alongside", _callbacks, beside=()),
        Part("held", "POST /v2/charges/, held", partial(_charges, capture=False)),
        Part("declined", "POST /v2/charges/, declined", partial(_charges, number=DECLINED)),
        Part("replayed", "POST /v2/charges/, replayed", _replayed, again=True),
        Part("capture", "POST /v2/charges/ID/capture", _capture),
        Part("refund", "POST /v2/charges/ID/refund", _refund),
        Part("list", f"GET /v2/charges/, {PAGE} rows", _list, again=True, beside=("plain", "company")),
        Part("retrieve", "GET /v2/charges/ID", _retrieve, again=True),
        Part("middle", "GET /v2/charges/, a page in the middle", _middle, **SEEDED),
        Part("last", "GET /v2/charges/, the last page", _last, **SEEDED),
        Part("quiet", "GET /v2/charges/, of a merchant that went quiet", _quiet, **SEEDED),
        Part("slow", "POST /v2/charges/, a provider that takes 1 s", beside=MEANWHILE),
    )
}
