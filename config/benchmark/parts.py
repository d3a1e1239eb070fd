"""The parts of the service that can be measured, with what their requests need.

Whatever moves money carries an idempotency key of its own, as a careful merchant's requests do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from config.benchmark.making import DECLINED, Maker, acts, new_charges, new_sources
from config.benchmark.sending import Request
from payments.quickstart.payment import REFUNDED

# What makes so many requests.
Making = Callable[[Maker, int], Sequence[Request]]
PAGE = 20
BESIDE = {
    "plain": "a plain view, the same JSON",
    "usual": "ORM and ModelSerializer",
    "empty": "on a database without the seeded charges",
    "full": "the same, 1,600 charges stored",
    "list": "a list meanwhile",
    "ping": "GET /ping meanwhile",
    "quiet_list": "a list otherwise",
    "quiet_ping": "GET /ping otherwise",
}


@dataclass(frozen=True)
class Trial:
    """What can be measured; `beside` names what it is compared with, each measured in the same rounds.

    One that is not `usual` is measured where it is asked for only.
    """

    name: str
    title: str
    beside: Sequence[str] = ()
    usual: bool = True

    @property
    def rows(self) -> Iterator[tuple[str, str]]:
        """The names of all that are measured for it, with their titles."""
        yield self.name, self.title
        for name in self.beside:
            yield f"{self.name}/{name}", f"  {BESIDE[name]}"


@dataclass(frozen=True, kw_only=True)
class Part(Trial):
    """One kind of request: `make` makes so many, `repeats` tells whether each can be sent again and again.

    `floor` is the script of pgbench that is the least a database must do for it, if there is one. One of `seeded`
    needs charges that were seeded.
    """

    beside: Sequence[str] = ("plain",)
    make: Making
    repeats: bool = False
    floor: str = ""
    seeded: bool = False

    @property
    def rows(self) -> Iterator[tuple[str, str]]:
        yield from super().rows
        if self.floor:
            yield self.floor, f"  pgbench, {self.floor}"


def _sources(maker: Maker, count: int) -> Sequence[Request]:
    return new_sources(count)


def _charges(maker: Maker, count: int) -> Sequence[Request]:
    return new_charges(maker.sources(count))


def _callbacks(maker: Maker, count: int) -> Sequence[Request]:
    redirect = {"success": maker.receiver, "fail": maker.receiver, "notify": maker.receiver}
    return new_charges(maker.sources(count, redirect=redirect))


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
    return [new_list()]


def _middle(maker: Maker, count: int) -> Sequence[Request]:
    return [new_list(f"&start_after={maker.seeded.middle}")]


def _last(maker: Maker, count: int) -> Sequence[Request]:
    return [new_list(f"&start_after={maker.seeded.before_last}")]


def _quiet(maker: Maker, count: int) -> Sequence[Request]:
    return [replace(new_list(), secret_key=maker.seeded.quiet_key)]


def _retrieve(maker: Maker, count: int) -> Sequence[Request]:
    return [Request("GET", f"/v2/charges/{charge}") for charge in maker.charged(count)]


def new_list(more: str = "") -> Request:
    """A request for one page of charges."""
    return Request("GET", f"/v2/charges/?limit={PAGE}{more}")


def among_seeded(trial: Trial) -> Trial:
    """The same where charges were seeded: beside none but an empty database."""
    beside = ("empty",) if trial.name in AMONG_SEEDED and trial.usual else ()
    return replace(trial, beside=beside, floor="") if isinstance(trial, Part) else trial


def _listed(name: str, title: str, make: Making) -> Part:
    """A page of those that were seeded."""
    return Part(name, f"GET /v2/charges/, {title}", beside=(), usual=False, make=make, repeats=True, seeded=True)


TRIALS: dict[str, Trial] = {
    trial.name: trial
    for trial in (
        Part("sources", "POST /v2/sources/", make=_sources, floor="insert"),
        Part("charges", "POST /v2/charges/, captured", make=_charges, floor="two_tx"),
        Part("callbacks", "POST /v2/charges/, callbacks delivered alongside", beside=(), make=_callbacks),
        Part("held", "POST /v2/charges/, held", make=_held, floor="two_tx"),
        Part("declined", "POST /v2/charges/, declined", make=_declined, floor="two_tx"),
        Part("replayed", "POST /v2/charges/, replayed", make=_replayed, repeats=True),
        Part("capture", "POST /v2/charges/ID/capture", make=_capture),
        Part("refund", "POST /v2/charges/ID/refund", make=_refund),
        Part("list", f"GET /v2/charges/, {PAGE} rows", beside=("plain", "usual"), make=_list, repeats=True),
        Part("retrieve", "GET /v2/charges/ID", make=_retrieve, repeats=True),
        _listed("middle", "a page in the middle", _middle),
        _listed("last", "the last page", _last),
        _listed("quiet", "of a merchant that went quiet", _quiet),
        Trial("slow", "POST /v2/charges/, a provider that takes 1 s", ("list", "ping", "quiet_list", "quiet_ping")),
        Trial("localstripe", "localstripe, POST /v1/charges", ("full",), usual=False),
    )
}
AMONG_SEEDED = ("charges", "list", "middle", "last", "quiet")
