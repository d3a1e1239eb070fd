"""An entry of a timeline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

Facts = Sequence[tuple[str, object]]


class Kind(IntEnum):
    """The source of an entry. Within one moment, a cause is sorted before its effects."""

    STAFF = 1
    REQUEST = 2
    PAYER = 3
    PROVIDER = 4
    PROVIDER_EVENT = 5
    CHANGE = 6
    LEDGER = 7
    WEBHOOK = 8
    MESSAGE = 9
    REPORT = 10

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Moment:
    """An entry with a short `title`, further `facts` and a `mark` for its colour (`good`, `warn`, `bad`, `quiet`)."""

    at: datetime
    kind: Kind
    title: object
    facts: Facts = ()
    mark: str = ""


Moments = Iterator[Moment]
