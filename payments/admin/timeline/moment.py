"""An entry of a timeline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any

from django.utils.translation import gettext as _

Facts = Sequence[tuple[Any, object]]


class About(IntEnum):
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
        return _(self.name.replace("_", " ").capitalize())


# Their titles are words that anybody understands.
IN_WORDS = (About.STAFF, About.PAYER, About.MESSAGE)


@dataclass(frozen=True, slots=True)
class Moment:
    """An entry with a short `title`, further `facts` and a `mark` for its colour (`good`, `warn`, `bad`, `quiet`).

    `words` say it to somebody who knows no events and no requests; "" for what such a person need not know, which
    `is_detail` where the title is in words.
    """

    at: datetime
    kind: About
    title: object
    facts: Facts = ()
    mark: str = ""
    words: str = ""
    is_detail: bool = False

    @property
    def in_words(self) -> object:
        """The entry in words; "" where it has none."""
        return self.words or (self.title if self.kind in IN_WORDS and not self.is_detail else "")

    @property
    def why(self) -> object:
        """The reason that staff gave; "" for none."""
        return dict(self.facts).get("Why", "") if self.kind == About.STAFF else ""


Moments = Iterator[Moment]
