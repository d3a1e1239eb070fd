"""What the filters of lists find, and by which index.

Each filter has an index that ends with the ID, or is a bound of the ID itself.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Concat
from django.db.models.lookups import Exact

from payments.db.scoping import FIRST_ID, LAST_ID
from payments.domain.caller import Caller
from payments.domain.charging.state_machine import FLAGS
from payments.domain.events import EVENT_OBJECTS
from payments.ids import first_id
from payments.models import Charge, Event

Filters = dict[str, Any]
# The status of a charge and whether it is captured: by these two an index finds charges.
PLACES = tuple(dict.fromkeys((flags.status, flags.captured) for flags in FLAGS))
MILLISECOND = timedelta(milliseconds=1)


def charge_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters | None:
    """Return the values of `charges_page` for a query; None where nothing can be found."""
    source, customer = query.get("source"), query.get("customer")
    if source and not _owns(caller, "src", source, **({"customer_id": customer} if customer else {})):
        return None
    if customer and not source and not _owns(caller, "cus", customer):
        return None
    since, before = query.get("created_at[gte]"), query.get("created_at[lt]")
    below = min(after or LAST_ID, first_id(before + MILLISECOND) if before else LAST_ID)
    narrowed = {"source_id": source} if source else {"customer_id": customer} if customer else {}
    return {
        **narrowed,
        **({"since": since} if since else {}),
        **({"before": before} if before else {}),
        "below": below,
        "above": first_id(since) if since else FIRST_ID,
        "places": _places(query, bool(narrowed)),
    }


def charges_page(
    *,
    merchant_id: UUID,
    livemode: bool,
    length: int,
    below: UUID,
    above: UUID,
    places: int,
    source_id: UUID | None = None,
    customer_id: UUID | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
) -> QuerySet[Charge]:
    """Find the newest charges at the places whose bits are set in `places`, at all of them where it is 0."""
    rows, path = Charge.objects.whole(), {"merchant_id": merchant_id, "livemode": livemode}
    if source_id is not None:
        rows, path = rows.of(merchant_id, livemode), {"source_id": source_id}
    elif customer_id is not None:
        rows, path = rows.of(merchant_id, livemode).filter(customer_id__isnull=False), {"customer_id": customer_id}
    # The ID tells the millisecond alone.
    rows = rows if since is None else rows.filter(created_at__gte=since)
    rows = rows if before is None else rows.filter(created_at__lt=before)
    chosen = [place for bit, place in enumerate(PLACES) if places >> bit & 1]
    paths = [path | {"status": status, "captured": captured} for status, captured in chosen]
    return rows.newest_page(paths or [path], length, below, above)


def event_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters | None:
    """Return the values of `events_page` for a query; None where nothing can be found."""
    kind, told = query.get("type"), query.get("object")
    if told is None:
        return {"after": after, **({"kind": kind} if kind else {})}
    prefix, object_id = told
    if not _owns(caller, prefix, object_id):
        return None
    narrowed = {"kind": kind, "place": PLACES_OF_EVENTS.get(kind.partition(".")[2], 0)} if kind else {}
    return {"after": after, "object_id": object_id, **narrowed}


# An object has one event of these kinds, as its first and as its last.
PLACES_OF_EVENTS = {"created": 1, "deleted": -1}


def events_page(
    *,
    merchant_id: UUID,
    livemode: bool,
    length: int,
    after: UUID | None,
    kind: str | None = None,
    object_id: UUID | None = None,
    place: int = 0,
) -> QuerySet[Event]:
    """Find the newest events, of one type or object; `place` is the one that events of the type have."""
    typed = {} if kind is None else {"type": kind}
    if object_id is None:
        return Event.objects.newest(merchant_id, livemode, after, length, **typed)
    own = Event.objects.of(merchant_id, livemode)
    if place:
        edge = own.newest_of_object(object_id, None, 1) if place < 0 else own.filter(object_id=object_id, sequence=1)
        rows = own.filter(id__in=edge.values("id"), **typed)
        return rows if after is None else rows.filter(id__lt=after)
    # No index knows this form, so the planner cannot take that of types, which passes over the other objects.
    rows = own if kind is None else own.filter(Exact(Concat(F("type"), Value("")), Value(kind)))
    return rows.newest_of_object(object_id, after, length)


def _owns(caller: Caller, prefix: str, object_id: UUID, **values: Any) -> bool:
    rows = EVENT_OBJECTS[prefix].objects.of(caller.merchant_id, caller.livemode)
    return bool(rows.filter(id=object_id, **values).exists())


def _places(query: Mapping[str, Any], is_narrowed: bool) -> int:
    """Return a bit for each place at which charges are looked for; 0 where an index has them all in one."""
    wanted = {name: query[name] for name in ("status", "authorized", "captured") if name in query}
    if not wanted and not is_narrowed:
        return 0
    found = [flags for flags in FLAGS if all(getattr(flags, name) == value for name, value in wanted.items())]
    return sum(1 << PLACES.index((flags.status, flags.captured)) for flags in found)
