"""The story of a charge in plain sentences. The back office tells it, and assistants read it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from payments.models import Charge


@dataclass(frozen=True, slots=True)
class Story:
    """What the page of a charge says to its merchant: lines of its money, facts by name, and what happened when."""

    money: Sequence[str]
    facts: Sequence[str]
    # The oldest first, as a story is read.
    happened: Sequence[tuple[datetime, str]]


Teller = Callable[[Charge], Story]
_tellers: list[Teller] = []


def told_by(teller: Teller) -> Teller:
    """Have `teller` tell the story of every charge; return it."""
    _tellers[:] = [teller]
    return teller


def tell(charge: Charge) -> Story:
    """Return the story of a charge."""
    [teller] = _tellers
    return teller(charge)
