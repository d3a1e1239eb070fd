from typing import Any

from customers.models import CustomerSource
from payments.models.charge import ChargeQuerySet


def charges_of_customer(rows: ChargeQuerySet, customer_id: Any) -> ChargeQuerySet:
    """`rows` on sources that are, or once were, kept for the customer of this ID."""
    ties = CustomerSource.objects.filter(customer_id=customer_id)
    return rows.filter(source_id__in=ties.values("source_id"))
