"""What a provider's settlement report says, however it comes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable


class Movement(StrEnum):
    """What a provider's settlement report says was done with money."""

    CAPTURE = "capture"
    VOID = "void"
    REFUND = "refund"
    REFUND_RETURNED = "refund_returned"
    DISPUTE = "dispute"  # a chargeback
    DISPUTE_WON = "dispute_won"  # a chargeback that came back
    OTHER = "other"  # none of these, either way, as a correction by hand

    @property
    def sign(self) -> int:
        """1 where the provider owes us more by it, -1 where less, 0 where it may be either."""
        if self is Movement.OTHER:
            return 0
        return 1 if self in (Movement.CAPTURE, Movement.REFUND_RETURNED, Movement.DISPUTE_WON) else -1


@dataclass(frozen=True, slots=True)
class SettlementLine:
    """A movement of money as a provider reports it.

    `reference` is our name of the payment or operation, `provider_ref` the provider's; a report may lack one of them.
    `amount` is in the smallest unit of `currency` and has the sign of its kind. `word` is the provider's own for what
    was done, where it says more than `kind`.
    """

    reference: str
    provider_ref: str
    kind: Movement
    amount: int
    currency: str
    booked_at: datetime
    word: str = ""


@runtime_checkable
class Reporting(Protocol):
    """A connector that hands over its provider's settlement report; those of other providers come as files."""

    def settlement_lines(self, since: datetime | None, until: datetime) -> Iterator[SettlementLine]:
        """Every movement booked from `since` (None: ever) to before `until`, oldest first."""
