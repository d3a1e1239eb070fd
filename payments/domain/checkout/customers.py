"""The customers to whom requests are made. The customers app says how one is found."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from payments.domain.shared.caller import Caller


@dataclass(frozen=True, slots=True)
class KnownCustomer:
    """A customer as an invoice names it; `phone` is "" where there is none, `locale` "en" or "fil"."""

    id: UUID
    email: str
    name: str
    phone: str
    locale: str


# Returns the caller's customer of a public ID, locked until the transaction ends; raises PaymentError.
Find = Callable[[Caller, str], KnownCustomer]
_find: Find


def use_finder(find: Find) -> None:
    """Have `find` find the customers of requests."""
    global _find
    _find = find


def lock_customer(caller: Caller, text: str) -> KnownCustomer:
    """Return the caller's customer of this public ID, locked. Raise PaymentError `resource_missing`."""
    return _find(caller, text)
