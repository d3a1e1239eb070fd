"""What a provider's own records say that it did for us; what a restored database has lost is found in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class DoneThere:
    """A payment that was approved, or an operation that was accepted.

    `kind` is the kind of our attempt; `reference` is our name of it, `payment_reference` that of its payment. `amount`
    is in the smallest unit of `currency`. An extension is by `hold_days`.
    """

    reference: str
    provider_ref: str
    payment_reference: str
    kind: str
    amount: int
    currency: str
    done_at: datetime
    hold_days: int = 0


@runtime_checkable
class KeepsRecords(Protocol):
    """A connector that can list what its provider did for us."""

    def done_between(self, since: datetime, until: datetime) -> Iterator[DoneThere]:
        """Return everything done from `since` to before `until`, oldest first."""
