"""The filters of lists. A room above may add one (customers does), for this one knows nothing of it."""

from collections.abc import Callable
from typing import Any

from payments.domain.caller import Caller
from payments.ids import parse_id
from payments.models import Event
from payments.models.charge import ChargeQuerySet
from payments.models.scoping import ScopedQuerySet

ChargeFilter = Callable[[ChargeQuerySet, Caller, Any], ChargeQuerySet]


def _by_source(rows: ChargeQuerySet, _: Caller, text: str) -> ChargeQuerySet:
    uuid = parse_id("src", text)
    return rows.filter(source_id=uuid) if uuid else rows.none()


CHARGE_FILTERS: dict[str, ChargeFilter] = {
    "status": lambda rows, _, status: rows.filter(status=status),
    "captured": lambda rows, _, captured: rows.filter(captured=captured),
    "authorized": lambda rows, _, authorized: rows.filter(authorized=authorized),
    "source": _by_source,
    "created_at[gte]": lambda rows, _, moment: rows.filter(created_at__gte=moment),
    "created_at[lt]": lambda rows, _, moment: rows.filter(created_at__lt=moment),
}


def filter_charges(rows: ChargeQuerySet, caller: Caller, query: dict[str, Any]) -> ChargeQuerySet:
    """`rows` narrowed by every filter that `query` (validated) names."""
    for name in query.keys() & CHARGE_FILTERS.keys():
        rows = CHARGE_FILTERS[name](rows, caller, query[name])
    return rows


def filter_events(rows: ScopedQuerySet[Event], query: dict[str, Any]) -> ScopedQuerySet[Event]:
    """`rows` narrowed to one type of event, one object, or both."""
    if "type" in query:
        rows = rows.filter(type=query["type"])
    if "object" in query:
        uuid = parse_id(query["object"].partition("_")[0], query["object"])
        rows = rows.filter(object_id=uuid) if uuid else rows.none()
    return rows
