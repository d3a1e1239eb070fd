"""What payments ask of customers; an app above registers its verbs."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from payments.db.writes import Write
from payments.domain.shared.caller import Caller
from payments.models import Source


@dataclass(frozen=True, slots=True)
class KnownCustomer:
    """A customer as payers' pages and invoices name it; `phone` and `locale` ("en", "fil") are "" where not known."""

    id: UUID
    email: str
    name: str
    phone: str
    locale: str


@dataclass(frozen=True, slots=True)
class Customers:
    """The verbs of customers.

    `find` returns the caller's customer of a public ID, `lock` does so locked until the transaction ends; both raise
    PaymentError `resource_missing`. `new` returns a customer's ID and the writes that make it of an e-mail address, a
    name and a phone number. `at_address` returns the public ID of the caller's newest customer with an e-mail address,
    and makes one of the three where there is none. `has_room` returns whether a customer is there and takes one more
    source. `keep` returns the writes that keep a source, unused or used by its charge, for a customer; none where the
    customer was deleted, or takes no more and the card `is_charged` not.
    """

    find: Callable[[Caller, str], KnownCustomer]
    lock: Callable[[Caller, str], KnownCustomer]
    new: Callable[[Caller, str, str, str], tuple[UUID, list[Write]]]
    at_address: Callable[[Caller, str, str, str], str]
    has_room: Callable[[Caller, UUID], bool]
    keep: Callable[[Caller, UUID, Source, bool], list[Write]]


_customers: Customers


def use_customers(customers: Customers) -> None:
    """Have payments use these verbs."""
    global _customers
    _customers = customers


def customers() -> Customers:
    return _customers
