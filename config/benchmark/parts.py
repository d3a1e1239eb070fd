"""The parts of the service that can be measured, with what their requests need.

Whatever moves money carries an idempotency key of its own, as a careful merchant's requests do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from config.benchmark.making import DECLINED, Maker, acts, new_charges, new_sources
from config.benchmark.sending import Request
from config.quickstart.payment import REFUNDED

PAGE = 20


@dataclass(frozen=True)
class Part:
    """One kind of request: `make` makes so many, `repeats` tells whether each can be sent again and again.

    `floor` is the script of pgbench that is the least a database must do for it, if there is one, and `beside` names
    the views that it is compared with.
    """

    name: str
    title: str
    make: Callable[[Maker, int], Sequence[Request]]
    repeats: bool = False
    floor: str = ""
    beside: Sequence[str] = ("plain",)


def _sources(maker: Maker, count: int) -> Sequence[Request]:
    return new_sources(count)


def _charges(maker: Maker, count: int) -> Sequence[Request]:
    return new_charges(maker.sources(count))


def _held(maker: Maker, count: int) -> Sequence[Request]:
    return new_charges(maker.sources(count), capture=False)


def _declined(maker: Maker, count: int) -> Sequence[Request]:
    return new_charges(maker.sources(count, DECLINED))


def _replayed(maker: Maker, count: int) -> Sequence[Request]:
    """Requests that were answered already, under the same keys."""
    requests = _charges(maker, count)
    maker.charge(requests)
    return requests


def _capture(maker: Maker, count: int) -> Sequence[Request]:
    return acts(maker.charged(count, capture=False), "capture", {})


def _refund(maker: Maker, count: int) -> Sequence[Request]:
    return acts(maker.charged(count), "refund", {"amount": REFUNDED})


def _list(maker: Maker, count: int) -> Sequence[Request]:
    """The newest page, where there is more than one."""
    maker.charged(PAGE + 1)
    return [Request("GET", f"/v2/charges/?limit={PAGE}")]


def _retrieve(maker: Maker, count: int) -> Sequence[Request]:
    return [Request("GET", f"/v2/charges/{charge}") for charge in maker.charged(count)]


PARTS = {
    part.name: part
    for part in (
        Part("sources", "POST /v2/sources/", _sources, floor="insert"),
        Part("charges", "POST /v2/charges/, captured", _charges, floor="two_tx"),
        Part("held", "POST /v2/charges/, held", _held, floor="two_tx"),
        Part("declined", "POST /v2/charges/, declined", _declined, floor="two_tx"),
        Part("replayed", "POST /v2/charges/, replayed", _replayed, repeats=True),
        Part("capture", "POST /v2/charges/ID/capture", _capture),
        Part("refund", "POST /v2/charges/ID/refund", _refund),
        Part("list", f"GET /v2/charges/, {PAGE} rows", _list, repeats=True, beside=("plain", "usual")),
        Part("retrieve", "GET /v2/charges/ID", _retrieve, repeats=True),
    )
}
