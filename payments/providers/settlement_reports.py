"""What a provider's settlement report says, however it comes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

# ISO 4217's own code where no currency is involved.
NO_CURRENCY = "XXX"


class Movement(StrEnum):
    """What a provider's settlement report says was done with money."""

    CAPTURE = "capture"
    VOID = "void"
    REFUND = "refund"
    REFUND_RETURNED = "refund_returned"
    DISPUTE = "dispute"  # a chargeback
    DISPUTE_WON = "dispute_won"  # a chargeback that came back
    PAYOUT = "payout"  # what the provider paid to our bank: a batch
    BOOKED = "booked"  # what our bank booked on our account, either way
    OTHER = "other"  # none of these, either way, as a correction by hand
    UNREAD = "unread"  # a row that cannot be read

    @property
    def sign(self) -> int:
        """1 where the provider owes us more by it, -1 where less, 0 where it may be either."""
        if self in (Movement.BOOKED, Movement.OTHER, Movement.UNREAD):
            return 0
        return 1 if self in (Movement.CAPTURE, Movement.REFUND_RETURNED, Movement.DISPUTE_WON) else -1


@dataclass(frozen=True, slots=True)
class SettlementLine:
    """A movement of money as a provider reports it.

    `reference` is our name of the payment or operation, `provider_ref` the provider's; a report may lack one of them.
    `amount` is in the smallest unit of `currency` and has the sign of its kind. `word` is the provider's own for what
    was done, where it says more than `kind`. `nth` numbers equal lines of one report. `row` is the line of the file,
    0 without one, and `text` what a bank wrote beside the movement.
    """

    reference: str
    provider_ref: str
    kind: Movement
    amount: int
    currency: str
    booked_at: datetime | None
    word: str = ""
    nth: int = 1
    row: int = field(default=0, compare=False)
    text: str = field(default="", compare=False)

    @classmethod
    def unread(cls, reference: str, provider_ref: str, why: str, row: int = 0) -> "SettlementLine":
        """Return the line of a row that cannot be read, with as much as can be, and why."""
        return cls(reference, provider_ref, Movement.UNREAD, 0, NO_CURRENCY, None, why, row=row)


@runtime_checkable
class Reporting(Protocol):
    """A connector that hands over its provider's settlement report; those of other providers come as files."""

    def settlement_lines(self, since: datetime | None, until: datetime) -> Iterator[SettlementLine]:
        """Every movement booked from `since` (None: ever) to before `until`, oldest first."""
