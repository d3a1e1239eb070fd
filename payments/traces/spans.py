"""The spans of a process, recorded when they end, at the places where the metrics count the same thing.

The ID of a trace is the ID of its request, and so is the decision whether it is sampled. What knows the request, such
as an attempt or the payload of an event, adds to its trace in any process and at any time, and no row stores a trace.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from payments import ids

# Of an ID that `payments.ids` makes, the last 32 bits are random.
RANDOM_BITS = 32
ROOT_BITS = 64


class Side(StrEnum):
    SERVER = "server"
    CLIENT = "client"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Trace:
    """A sampled trace, named by the ID of a request or event."""

    uuid: UUID

    @property
    def id(self) -> int:
        return self.uuid.int

    @property
    def root_id(self) -> int:
        """Return the ID of the root span, which other processes have to know."""
        return self.uuid.int & (1 << ROOT_BITS) - 1


@dataclass(frozen=True, slots=True)
class Span:
    """Something that was done, from `started` to `ended` (nanoseconds since 1970), below the root of its trace."""

    trace: Trace
    name: str
    started: int
    ended: int
    kind: Side = Side.INTERNAL
    attributes: Mapping[str, str | int | bool] = field(default_factory=dict)
    failed: bool = False
    is_root: bool = False


class Exporter(Protocol):
    def add(self, span: Span) -> None:
        """Take a span; never wait, and never raise."""

    def stop(self) -> None:
        """Send what is left, for some seconds at most."""


_exporter: Exporter | None = None
_threshold = 0


def export_to(exporter: Exporter | None, sample_rate: float = 0) -> None:
    """Record the spans of this share of all traces with `exporter` from now on; None to record nothing."""
    global _exporter, _threshold
    _exporter, _threshold = exporter, round(sample_rate * (1 << RANDOM_BITS))


def exporter() -> Exporter | None:
    """Return what records the spans of this process, None while nothing does."""
    return _exporter


def trace_of(request_id: str) -> Trace | None:
    """Return the trace of a request by its ID (`req_…`); None if it is not sampled, and for any other text."""
    if _exporter is None:
        return None
    uuid = ids.parse_id("req", request_id)
    return trace_of_uuid(uuid) if uuid else None


def trace_of_uuid(uuid: UUID) -> Trace | None:
    """Return the trace that this ID names; None if it is not sampled."""
    if _exporter is None or uuid.int & (1 << RANDOM_BITS) - 1 >= _threshold:
        return None
    return Trace(uuid)


def record(span: Span) -> None:
    if _exporter is not None:
        _exporter.add(span)
