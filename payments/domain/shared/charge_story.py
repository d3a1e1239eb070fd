"""What happened to a charge, in plain sentences: the back office registers how it writes them, and assistants read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from payments.models import Charge


@dataclass(frozen=True, slots=True)
class ChargeStory:
    """What the page of a charge says to its merchant: lines of its money, facts by name, and what happened when."""

    money: Sequence[str]
    facts: Sequence[str]
    # The oldest first, as a story is read.
    happened: Sequence[tuple[datetime, str]]


Writer = Callable[[Charge], ChargeStory]
_writers: list[Writer] = []


def writes_charge_story(writer: Writer) -> Writer:
    """Have `writer` write the story of every charge; return it."""
    _writers[:] = [writer]
    return writer


def charge_story(charge: Charge) -> ChargeStory:
    """Return the story of a charge."""
    [writer] = _writers
    return writer(charge)
