"""The query behind the list of customers."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from customers.models import Customer
from payments.db.scoped_queryset import LAST_ID
from payments.domain.caller import Caller


def customer_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> dict[str, Any]:
    """Return the values of `customers_page` for a query."""
    return {"below": after or LAST_ID, **({"email": query["email"]} if "email" in query else {})}


def customers_page(
    *, merchant_id: UUID, livemode: bool, length: int, below: UUID, email: str | None = None
) -> QuerySet[Customer]:
    """Return the newest customers, all or those with exactly this address."""
    path: dict[str, Any] = {"merchant_id": merchant_id, "livemode": livemode}
    path |= {} if email is None else {"email": email}
    return Customer.objects.present().whole().newest_page([path], length, below)
