"""One thing that came to pass, as a line of a timeline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

Facts = Sequence[tuple[str, object]]


class Kind(IntEnum):
    """What it is part of. Of one moment, the cause stands before what it brought about."""

    STAFF = 1
    REQUEST = 2
    PAYER = 3
    PROVIDER = 4
    WEBHOOK = 5
    CHANGE = 6
    LEDGER = 7
    CALLBACK = 8
    REPORT = 9

    @property
    def label(self) -> str:
        return self.name.capitalize()


@dataclass(frozen=True, slots=True)
class Moment:
    """`title` in a few words, `facts` for who reads on; `mark` says how it went (`good`, `warn`, `bad`, `quiet`)."""

    at: datetime
    kind: Kind
    title: object
    facts: Facts = ()
    mark: str = ""


Moments = Iterator[Moment]
