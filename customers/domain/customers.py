"""Creating, changing and deleting customers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db import transaction

from customers.domain.changes import change, lock, of_customer
from customers.domain.kept_sources import detach_writes
from customers.event_types import CUSTOMER_CREATED, CUSTOMER_DELETED, CUSTOMER_UPDATED
from customers.models import Customer
from payments import clock
from payments.db.writes import Insert, execute_writes
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import not_found
from payments.domain.shared.idempotency import Result, StoredAnswer

NOTHING_PERSONAL = {"email": "", "mobile_number": "", "description": "", "metadata": None}


def written(address: str) -> str:
    """Return an e-mail address as it is kept and looked for: names of hosts know no case, what stands before does."""
    name, at, host = address.rpartition("@")
    return f"{name}{at}{host.lower()}"


def create(caller: Caller, order: dict[str, Any], render: Callable[[Customer], StoredAnswer]) -> Result[Customer]:
    """Make a customer of a validated request body (`email`, `description`, `mobile_number`, `metadata`).

    `render` makes the answer that is stored with it.
    """
    moment = clock.now()
    customer = Customer(
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        created_at=moment,
        updated_at=moment,
        **order | {"email": written(order["email"])},
    )
    customer.kept = []
    answer = render(customer)
    created = of_customer(caller, CUSTOMER_CREATED, customer)
    idempotency.write_once(caller, idempotency.new_record(caller, answer), Insert(customer), *created)
    return Result(customer, answer)


def find_by_email(caller: Caller, email: str) -> Customer:
    """Return the caller's newest customer with this address; raise PaymentError `resource_missing`."""
    path = {"merchant_id": caller.merchant_id, "livemode": caller.livemode, "email": written(email)}
    customer = next(iter(Customer.objects.present().whole(caller.merchant_id).newest_page([path], 1)), None)
    if customer is None:
        raise not_found("customer")
    return customer


def update(caller: Caller, customer_id: str, changes: dict[str, Any]) -> Customer:
    """Replace the members given, `metadata` as a whole, and return the customer; without any, write nothing.

    Raises PaymentError `resource_missing`.
    """
    with transaction.atomic():
        customer = lock(caller, customer_id)
        if changes:
            changes |= {"email": written(changes["email"])} if "email" in changes else {}
            changed, shown = change(caller, customer, CUSTOMER_UPDATED, **changes)
            execute_writes(changed, *shown)
    return customer


def delete(caller: Caller, customer_id: str) -> None:
    """Delete a customer and detach its sources; an empty row with its ID stays for the charges.

    Raises PaymentError `resource_missing`.
    """
    with transaction.atomic():
        customer = lock(caller, customer_id)
        for tie in customer.kept:
            # One statement for each, because a statement takes only so many parameters.
            execute_writes(*detach_writes(caller, tie))
        customer.kept = []
        # The event shows the customer as it was last; the row forgets it.
        erasure, shown = change(caller, customer, CUSTOMER_DELETED)
        values = {**erasure.values, **NOTHING_PERSONAL, "deleted_at": customer.updated_at}
        execute_writes(replace(erasure, values=values), *shown)
