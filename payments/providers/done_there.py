"""What a provider's own records say that it did for us; what a restored database has lost is found in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable


class NotListed(Exception):
    """The provider did not list what it did, or not in a form that is understood; the message is for operators."""


@dataclass(frozen=True, slots=True)
class DoneThere:
    """A payment that was approved, or an operation that was accepted; with `has_failed` it failed later.

    `kind` is the kind of our attempt; `reference` is our name of it, `payment_reference` that of its payment. `amount`
    is in the smallest unit of `currency`. An extension is by `hold_days`. Where a provider names a capture by nothing
    but its payment, `reference` is empty: the payment has no other, and may have been captured at once.
    """

    reference: str
    provider_ref: str
    payment_reference: str
    kind: str
    amount: int
    currency: str
    done_at: datetime
    hold_days: int = 0
    has_failed: bool = False


@runtime_checkable
class KeepsRecords(Protocol):
    """A connector that can list what its provider did for us."""

    def done_between(self, since: datetime, until: datetime) -> Iterator[DoneThere]:
        """Return everything done from `since` to before `until`, oldest first, and maybe more. Raise NotListed."""
