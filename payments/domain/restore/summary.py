"""What a recovery did, and what it leaves to operators."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Summary:
    """What was done, by what it was, and what is left to operators, in words.

    `unlisted` says which accounts' records were not read to the end, and why.
    """

    closed_sources: int = 0
    looked_up: int = 0
    waiting: int = 0
    booked: Counter[str] = field(default_factory=Counter)
    unlisted: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
