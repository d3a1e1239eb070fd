"""The sweep that keeps the search up to date: it reads the events in the order in which they can be seen.

A charge writes no entry itself. An event that is read twice makes the same entry again, so nothing is lost or doubled
by a worker that ends in between.
"""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Model

from customers.models import Customer
from customers.search_entries import search_entries
from payments.db.commit_horizon import commit_horizon
from payments.ids import first_id
from payments.models import Charge, Checkout, Event, PaymentLink, SearchEntry, SearchProgress
from payments.search.entries import Entry, Maker, charge_entries, checkout_entries, link_entries

BATCH = 1_000
# While nothing happens, progress is written this rarely.
WRITTEN_EVERY = timedelta(seconds=10)
# By the beginning of an event's type: what it is about, and the maker of its entries.
MAKERS: dict[str, tuple[type[Model], Maker]] = {
    "charge": (Charge, charge_entries),
    "checkout_session": (Checkout, checkout_entries),
    "payment_request": (Checkout, checkout_entries),
    "payment_link": (PaymentLink, link_entries),
    "customer": (Customer, search_entries),
}

STORE = """
INSERT INTO payments_searchentry (id, kind, merchant_id, livemode, lexemes)
SELECT id, kind, merchant, mode, array_to_tsvector(string_to_array(words, E'\\n'))
FROM unnest(%s::uuid[], %s::text[], %s::uuid[], %s::boolean[], %s::text[]) AS made (id, kind, merchant, mode, words)
ON CONFLICT (id) DO UPDATE SET lexemes = EXCLUDED.lexemes
"""


def update(most_batches: int = 10) -> int:
    """Read at most this many batches of new events, and return how many objects were entered again."""
    SearchProgress.objects.get_or_create(pk=1)
    entered = 0
    for _ in range(most_batches):
        read, count = _update_once()
        entered += count
        if read < BATCH:
            break
    return entered


@transaction.atomic
def _update_once() -> tuple[int, int]:
    """Read one batch; return how many events were read, and how many objects were entered."""
    progress = SearchProgress.objects.select_for_update(skip_locked=True).first()
    if progress is None:
        return 0, 0
    horizon = commit_horizon()
    newer = Event.objects.filter(id__lt=first_id(horizon))
    if progress.event_id:
        newer = newer.filter(id__gt=progress.event_id)
    events = list(newer.order_by("id").values_list("type", "object_id", "id", "created_at")[:BATCH])
    changed: dict[str, dict[UUID, None]] = {}
    for event_type, object_id, *_ in events:
        changed.setdefault(event_type.partition(".")[0], {})[object_id] = None
    for name in MAKERS.keys() & changed.keys():
        enter(name, list(changed[name]))
    is_written_lately = progress.complete_to and horizon - progress.complete_to < WRITTEN_EVERY
    if events or not is_written_lately:
        progress.complete_to = horizon
        if events:
            *_, progress.event_id, last_at = events[-1]
            progress.complete_to = last_at if len(events) == BATCH else horizon
        progress.save()
    return len(events), sum(len(changed.get(name, ())) for name in MAKERS)


def rebuild() -> None:
    """Make all entries again, also of what was made without new events, such as a demo's past."""
    for name, (model, _) in MAKERS.items():
        rows = model._default_manager.order_by("pk").values_list("pk", flat=True)
        ids = list(rows[:BATCH])
        while ids:
            enter(name, ids)
            ids = list(rows.filter(pk__gt=ids[-1])[:BATCH])


def enter(name: str, ids: Sequence[UUID]) -> None:
    """Store the entries of these objects as they are now, and delete those of objects that have none any more."""
    entries = list(MAKERS[name][1](ids))
    SearchEntry.objects.filter(pk__in=set(ids) - {own_id for own_id, *_ in entries}).delete()
    store(entries)


def store(entries: Sequence[Entry]) -> None:
    """Store entries in place of those that their objects have."""
    if entries:
        with connection.cursor() as cursor:
            cursor.execute(STORE, list(map(list, zip(*entries, strict=True))))
