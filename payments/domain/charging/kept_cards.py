"""What checkouts ask of customers, which an app above registers: whose card is kept, and for whom."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from payments.db.writes import Write
from payments.domain.shared.caller import Caller
from payments.models import Source


@dataclass(frozen=True, slots=True)
class Contact:
    """A customer and how to reach it; "" for what is not known."""

    customer_id: UUID
    email: str
    phone: str


@dataclass(frozen=True, slots=True)
class Customers:
    """The verbs of customers.

    `find` returns the caller's customer of a public ID, or raises PaymentError `resource_missing`. `new` returns a
    customer's ID and the writes that make it of an e-mail address, a name and a phone number. `keep` returns the
    writes that keep a source, unused or used by its charge, for a customer; none where the customer takes no more.
    """

    find: Callable[[Caller, str], Contact]
    new: Callable[[Caller, str, str, str], tuple[UUID, list[Write]]]
    keep: Callable[[Caller, UUID, Source], list[Write]]


_customers: Customers


def use_customers(customers: Customers) -> None:
    """Have checkouts use these verbs."""
    global _customers
    _customers = customers


def customers() -> Customers:
    return _customers
