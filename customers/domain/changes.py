"""One customer at a time: who is found, and how each change leaves its event."""

from typing import Any

from customers.models import Customer, CustomerQuerySet
from customers.rendering import render_customer
from payments import clock
from payments.db.writes import Insert, Update
from payments.domain import events
from payments.domain.caller import Caller
from payments.domain.errors import not_found
from payments.ids import parse_id


def present(caller: Caller) -> CustomerQuerySet:
    """The caller's customers, whole."""
    return Customer.objects.of(caller.merchant_id, caller.livemode).present().whole()


def find(caller: Caller, text: str) -> Customer:
    """The caller's customer of this public ID, whole. Raises PaymentError `resource_missing`."""
    return _one(present(caller), text)


def lock(caller: Caller, text: str) -> Customer:
    """As `find`, and nobody else changes this customer before the caller's transaction ends."""
    return _one(present(caller).select_for_update(), text)


def of_customer(caller: Caller, event_type: str, customer: Customer) -> Insert:
    """The write of an event that shows the customer in hand."""
    return events.new_event(caller, event_type, customer.id, customer.version, render_customer(customer))


def change(caller: Caller, customer: Customer, event_type: str, **changes: Any) -> tuple[Update, Insert]:
    """Changes the customer in hand; returns the writes of the change and of its event."""
    in_hand = {"id": customer.id, "version": customer.version, "deleted_at": None}
    values = changes | {"version": customer.version + 1, "updated_at": clock.now()}
    for name, value in values.items():
        setattr(customer, name, value)
    return Update(Customer, in_hand, values), of_customer(caller, event_type, customer)


def _one(rows: CustomerQuerySet, text: str) -> Customer:
    uuid = parse_id("cus", text)
    customer = rows.filter(id=uuid).first() if uuid else None
    if customer is None:
        raise not_found("customer")
    return customer
