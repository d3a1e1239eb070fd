"""Customers as the API and the webhooks show them (contract, section 3)."""

from typing import Any

from customers.models import Customer
from payments.clock import iso
from payments.ids import public_id
from payments.rendering.objects import render_source


def render_customer(customer: Customer) -> dict[str, Any]:
    """Return `customer`, read by `Customer.objects.whole()`, as the API shows it."""
    return {
        "object": "customer",
        "id": public_id("cus", customer.id),
        "email": customer.email,
        "mobile_number": customer.mobile_number or None,
        "description": customer.description,
        "sources": [render_source(tie.source) for tie in customer.kept],
        "livemode": customer.livemode,
        "created_at": iso(customer.created_at),
        "updated_at": iso(customer.updated_at),
        "metadata": customer.metadata or {},
    }


def render_deleted(customer_id: str) -> dict[str, Any]:
    """Return a deleted customer as the API shows it."""
    return {"id": customer_id, "object": "customer", "deleted": True}
