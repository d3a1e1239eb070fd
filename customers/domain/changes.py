"""Reading and changing one customer, with an event for each change."""

from typing import Any

from customers.models import Customer, CustomerQuerySet
from customers.rendering import CUSTOMER
from payments import clock
from payments.db.writes import Update, Write
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import not_found
from payments.domain.shared.finder import Finder
from payments.ids import parse_id


def present(caller: Caller) -> CustomerQuerySet:
    """Return the caller's customers that are not deleted, with their sources."""
    return Customer.objects.of(caller.merchant_id, caller.livemode).present().whole(caller.merchant_id)


find = Finder("cus", lambda *owner: Customer.objects.of(*owner).present().whole(owner[0]))


def lock(caller: Caller, text: str, param: str | None = None) -> Customer:
    """Return the customer as `find` does, locked until the transaction ends."""
    uuid = parse_id("cus", text)
    customer = present(caller).select_for_update().filter(id=uuid).first() if uuid else None
    if customer is None:
        raise not_found("customer", param, text)
    return customer


def of_customer(caller: Caller, event_type: str, customer: Customer) -> list[Write]:
    """Return the writes of an event that shows `customer`, and of its webhooks."""
    return events.writes_of(caller, event_type, customer.id, customer.version, CUSTOMER.render(customer))


def change(caller: Caller, customer: Customer, event_type: str, **changes: Any) -> tuple[Update, list[Write]]:
    """Change `customer` in memory; return the write of the change and those of its event."""
    unchanged = {
        "id": customer.id,
        "merchant_id": customer.merchant_id,
        "version": customer.version,
        "deleted_at": None,
    }
    values = changes | {"version": customer.version + 1, "updated_at": clock.now()}
    for name, value in values.items():
        setattr(customer, name, value)
    return Update(Customer, unchanged, values), of_customer(caller, event_type, customer)
