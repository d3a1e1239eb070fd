"""The queries behind the filters of lists.

Each filter has an index that ends with the ID, or is a bound of the ID.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Concat, Greatest, Least
from django.db.models.lookups import Exact

from payments.db.scoped_queryset import FIRST_ID, LAST_ID, ScopedQuerySet
from payments.domain.catalogue.event_types import SUBJECTS
from payments.domain.charging.state_machine import FLAGS
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import invalid
from payments.domain.transparency.proofs import with_leaves
from payments.ids import first_id, first_id_after
from payments.models import ApiRequest, Charge, Dispute, Event, Payout
from payments.rendering.objects.payouts import BALANCES

Filters = dict[str, Any]
Rows = TypeVar("Rows", bound=ScopedQuerySet[Any])
# The pairs of status and captured that charges can have; an index finds charges by the two.
STATUS_PAIRS = tuple(dict.fromkeys((flags.status, flags.captured) for flags in FLAGS))
# An object has at most one event of these kinds: the first (1) or the last (-1).
EVENT_POSITIONS = {"created": 1, "deleted": -1}
MICROSECOND = timedelta(microseconds=1)


def charge_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
    """Return the arguments of `charges_page` for a query.

    Raise PaymentError 422 where `customer` or `source` names nothing of the caller's, or another customer's source.
    """
    source, customer = query.get("source"), query.get("customer")
    if customer:
        _require_own(caller, "customer", "cus", customer)
    if source:
        _require_own(caller, "source", "src", source, **({"customer_id": customer} if customer else {}))
    narrowed = {"source_id": source} if source else {"customer_id": customer} if customer else {}
    return narrowed | _period(query, after) | {"pairs": _pairs(query, bool(narrowed))}


def _period(query: Mapping[str, Any], after: UUID | None) -> Filters:
    """Return the bounds of a page by the times of a query and the start of the page."""
    since, before = query.get("created_at[gte]"), query.get("created_at[lt]")
    return {
        **({"later_than": since - MICROSECOND} if since else {}),
        **({"before": before} if before else {}),
        "below": min(after or LAST_ID, first_id_after(before) if before else LAST_ID),
        "above": first_id(since) if since else FIRST_ID,
    }


def charges_page(
    *,
    merchant_id: UUID,
    livemode: bool,
    length: int,
    below: UUID,
    above: UUID,
    pairs: int,
    source_id: UUID | None = None,
    customer_id: UUID | None = None,
    later_than: datetime | None = None,
    before: datetime | None = None,
) -> QuerySet[Charge]:
    """Return the newest charges whose pair of STATUS_PAIRS has its bit in `pairs`; 0 stands for all pairs."""
    rows, path = Charge.objects.shown(), {"merchant_id": merchant_id, "livemode": livemode}
    if source_id is not None:
        rows, path = rows.of(merchant_id, livemode), {"source_id": source_id}
    elif customer_id is not None:
        rows, path = rows.of(merchant_id, livemode).filter(customer_id__isnull=False), {"customer_id": customer_id}
    rows = _between(rows, later_than, before)
    chosen = [pair for bit, pair in enumerate(STATUS_PAIRS) if pairs >> bit & 1]
    paths = [path | {"status": status, "captured": captured} for status, captured in chosen]
    return rows.newest_page(paths or [path], length, below, above)


def _between(rows: Rows, later_than: datetime | None, before: datetime | None) -> Rows:
    """Return the rows between two moments, which a range of IDs says to the millisecond only.

    The planner expects nearly all rows to pass an inequality; by a range it would expect few, and would read and sort
    them all.
    """
    if later_than is not None:
        rows = rows.exclude(created_at=Least(F("created_at"), Value(later_than)))
    if before is not None:
        rows = rows.exclude(created_at=Greatest(F("created_at"), Value(before)))
    return rows


def dispute_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
    """Return the arguments of `disputes_page` for a query. Raise PaymentError 422 where `charge` names nothing."""
    charge, status = query.get("charge"), query.get("status")
    if charge:
        _require_own(caller, "charge", "ch", charge)
    narrowed = ({"charge_id": charge} if charge else {}) | ({"status": status} if status else {})
    return {"below": after or LAST_ID, **narrowed}


def disputes_page(
    *,
    merchant_id: UUID,
    livemode: bool,
    length: int,
    below: UUID,
    charge_id: UUID | None = None,
    status: str | None = None,
) -> QuerySet[Dispute]:
    """Return the newest disputes, of one charge or status."""
    rows, path = Dispute.objects.all(), {"merchant_id": merchant_id, "livemode": livemode}
    path |= {} if status is None else {"status": status}
    # A charge has few of them.
    rows = rows if charge_id is None else rows.filter(charge_id=charge_id)
    return rows.newest_page([path], length, below)


def payout_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
    """Return the arguments of `payouts_page` for a query."""
    return _period(query, after) | {name: query[name] for name in ("status", "currency") if name in query}


def payouts_page(
    *,
    merchant_id: UUID,
    livemode: bool,
    length: int,
    below: UUID,
    above: UUID,
    status: str | None = None,
    currency: str | None = None,
    later_than: datetime | None = None,
    before: datetime | None = None,
) -> QuerySet[Payout]:
    """Return the newest payouts with their accounts, of one status or currency."""
    rows, path = Payout.objects.select_related("account"), {"merchant_id": merchant_id, "livemode": livemode}
    rows = _between(with_leaves(rows, merchant_id, livemode), later_than, before)
    if currency is None:
        return rows.newest_page([path if status is None else path | {"status": status}], length, below, above)
    statuses = Payout.Status.values if status is None else [status]
    paths = [path | {"currency": currency, "status": each} for each in statuses]
    return rows.newest_page(paths, length, below, above)


def transaction_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
    """Return the arguments of `transactions.of_merchant` for a query.

    Raise PaymentError 422 where `charge` or `payout` names nothing of the caller's.
    """
    for param, prefix in (("charge", "ch"), ("payout", "po")):
        if param in query:
            _require_own(caller, param, prefix, query[param])
    since, before = query.get("created_at[gte]"), query.get("created_at[lt]")
    balance = query.get("balance")
    return {
        **{name: query[name] for name in ("charge", "payout", "currency") if name in query},
        **({"accounts": [account for account, name in BALANCES.items() if name == balance]} if balance else {}),
        "below": min(after or LAST_ID, _first_id_from(before) if before else LAST_ID),
        "above": _first_id_from(since) if since else FIRST_ID,
    }


def _first_id_from(moment: datetime) -> UUID:
    """Return the lowest ID of the first whole millisecond that is not before `moment`."""
    return first_id_after(moment - MICROSECOND)


def event_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
    """Return the arguments of `events_page` for a query. Raise PaymentError 422 where `object` names nothing."""
    kind, about = query.get("type"), query.get("object")
    if about is None:
        return {"after": after, **({"kind": kind} if kind else {})}
    prefix, object_id = about
    _require_own(caller, "object", prefix, object_id)
    narrowed = {"kind": kind, "position": EVENT_POSITIONS.get(kind.partition(".")[2], 0)} if kind else {}
    return {"after": after, "object_id": object_id, **narrowed}


def events_page(
    *,
    merchant_id: UUID,
    livemode: bool,
    length: int,
    after: UUID | None,
    kind: str | None = None,
    object_id: UUID | None = None,
    position: int = 0,
) -> QuerySet[Event]:
    """Return the newest events, of one type or object; `position` is that of EVENT_POSITIONS for the type."""
    typed = {} if kind is None else {"type": kind}
    if object_id is None:
        return Event.objects.newest(merchant_id, livemode, after, length, **typed)
    own = Event.objects.of(merchant_id, livemode)
    if position:
        edge = own.newest_of_object(object_id, None, 1) if position < 0 else own.filter(object_id=object_id, sequence=1)
        rows = own.filter(id__in=edge.values("id"), **typed)
        return rows if after is None else rows.filter(id__lt=after)
    # The expression keeps the planner from the index of types, which would scan the events of all other objects.
    rows = own if kind is None else own.filter(Exact(Concat(F("type"), Value("")), Value(kind)))
    return rows.newest_of_object(object_id, after, length)


def newer_events(
    *, merchant_id: UUID, livemode: bool, length: int, above: UUID, below: UUID, kind: str | None = None
) -> QuerySet[Event]:
    """Return the events between two IDs, all or those of one type, oldest first."""
    path: dict[str, Any] = {"merchant_id": merchant_id, "livemode": livemode}
    path |= {} if kind is None else {"type": kind}
    return Event.objects.newer_page(path, length, above, below)


def requests_page(*, merchant_id: UUID, livemode: bool, length: int, below: UUID) -> QuerySet[ApiRequest]:
    """Return the newest requests, without their bodies."""
    return ApiRequest.objects.defer("asked", "answered").newest_page(
        [{"merchant_id": merchant_id, "livemode": livemode}], length, below
    )


def newer_requests(*, merchant_id: UUID, livemode: bool, length: int, above: UUID, below: UUID) -> QuerySet[ApiRequest]:
    """Return the requests between two IDs, oldest first."""
    path = {"merchant_id": merchant_id, "livemode": livemode}
    return ApiRequest.objects.defer("asked", "answered").newer_page(path, length, above, below)


def _require_own(caller: Caller, param: str, prefix: str, object_id: UUID, **values: Any) -> None:
    if prefix == "mer":
        is_own = object_id == caller.merchant_id
    else:
        rows = SUBJECTS[prefix].model.objects.of(caller.merchant_id, caller.livemode)
        is_own = rows.filter(id=object_id, **values).exists()
    if not is_own:
        raise invalid("invalid_choice", param, "No object of this account and mode that can match has this ID.")


def _pairs(query: Mapping[str, Any], is_narrowed: bool) -> int:
    """Return a bit for each of STATUS_PAIRS to search; 0 if one index has all the charges."""
    wanted = {name: query[name] for name in ("status", "authorized", "captured") if name in query}
    if not wanted and not is_narrowed:
        return 0
    found = [flags for flags in FLAGS if all(getattr(flags, name) == value for name, value in wanted.items())]
    return sum(1 << STATUS_PAIRS.index((flags.status, flags.captured)) for flags in found)
