"""The filters of lists. A room above may add one (customers does), for this one knows nothing of it."""

from collections.abc import Callable, Mapping
from typing import Any

from payments.models import Event
from payments.models.charge import ChargeQuerySet
from payments.models.scoping import ScopedQuerySet

ChargeFilter = Callable[[ChargeQuerySet, Any], ChargeQuerySet]

CHARGE_FILTERS: dict[str, ChargeFilter] = {
    "status": lambda rows, status: rows.filter(status=status),
    "captured": lambda rows, captured: rows.filter(captured=captured),
    "authorized": lambda rows, authorized: rows.filter(authorized=authorized),
    "source": lambda rows, source_id: rows.filter(source_id=source_id),
    "created_at[gte]": lambda rows, moment: rows.filter(created_at__gte=moment),
    "created_at[lt]": lambda rows, moment: rows.filter(created_at__lt=moment),
}


def filter_charges(rows: ChargeQuerySet, filters: Mapping[str, Any]) -> ChargeQuerySet:
    """`rows` narrowed by every one of `filters`."""
    for name, value in filters.items():
        rows = CHARGE_FILTERS[name](rows, value)
    return rows


def filter_events(rows: ScopedQuerySet[Event], filters: Mapping[str, Any]) -> ScopedQuerySet[Event]:
    """`rows` narrowed to one type of event, one object, or both."""
    columns = {"type": "type", "object": "object_id"}
    return rows.filter(**{columns[name]: value for name, value in filters.items()})
