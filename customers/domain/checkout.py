"""What checkouts do with customers: find one, make one of what a payer gave, and keep a card for one."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from customers.domain import changes, customers
from customers.domain.changes import of_customer, present
from customers.domain.kept_sources import SOURCES_MAX, tie_writes
from customers.event_types import CUSTOMER_CREATED
from customers.models import Customer
from payments import clock
from payments.db.writes import Insert, Write
from payments.domain import sources
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.idempotency import StoredAnswer
from payments.models import Source

OK = 200


@dataclass(frozen=True, slots=True)
class KnownCustomer:
    """A customer as payers' pages and invoices name it; `phone` and `locale` ("en", "fil") are "" where not known."""

    id: UUID
    email: str
    name: str
    phone: str
    locale: str


def find(caller: Caller, text: str) -> KnownCustomer:
    """Return the customer of this public ID. Raise PaymentError `resource_missing`."""
    return _known(changes.find(caller, text, "customer"))


def lock(caller: Caller, text: str) -> KnownCustomer:
    """Return the customer as `find` does, locked until the transaction ends."""
    return _known(changes.lock(caller, text, "customer"))


def _known(customer: Customer) -> KnownCustomer:
    metadata = customer.metadata or {}
    name, locale = metadata.get("name"), metadata.get("locale")
    return KnownCustomer(
        customer.id,
        customer.email,
        name if name and isinstance(name, str) else customer.email.partition("@")[0],
        customer.mobile_number,
        locale if locale in ("en", "fil") else "",
    )


def new(caller: Caller, email: str, name: str, phone: str) -> tuple[UUID, list[Write]]:
    """Return a new customer's ID, and the writes that make it."""
    moment = clock.now()
    customer = Customer(
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        email=customers.written(email),
        mobile_number=phone,
        description=name or email,
        created_at=moment,
        updated_at=moment,
    )
    customer.kept = []
    return customer.id, [Insert(customer), *of_customer(caller, CUSTOMER_CREATED, customer)]


def at_address(caller: Caller, email: str, name: str, phone: str) -> str:
    """Return the public ID of the caller's newest customer with this address, who is made where there is none."""
    with suppress(PaymentError):
        return str(customers.find_by_email(caller, email))
    order: dict[str, Any] = {"email": email, "description": name or email, "mobile_number": phone}
    order |= {"metadata": {"name": name}} if name else {}
    # The key is that of what the customer is made for.
    return str(customers.create(caller.under(None), order, lambda _: StoredAnswer(OK, b"")).row)


def has_room(caller: Caller, customer_id: UUID) -> bool:
    """Return whether the customer is there and takes one more source."""
    customer = present(caller).filter(id=customer_id).first()
    return customer is not None and len(customer.kept) < SOURCES_MAX


def keep(caller: Caller, customer_id: UUID, source: Source, is_charged: bool) -> list[Write]:
    """Return the writes that keep `source`, which its charge may have used; none for a deleted customer.

    None for a full one either, unless the card `is_charged`: there was room for it when its charge began. They match
    the customer as it is now.
    """
    customer = present(caller).filter(id=customer_id).first()
    if customer is None or (len(customer.kept) >= SOURCES_MAX and not is_charged):
        return []
    vault = sources.vault_used if source.used else sources.vault
    return [*vault(caller, source, customer.id), *tie_writes(caller, customer, source)]
