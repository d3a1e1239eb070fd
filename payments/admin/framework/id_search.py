"""Search by any ID, as a merchant, a payer or a log line names it."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.admin.framework.merchant_access import limit_of
from payments.models import Event
from payments.models.merchants.merchant_access import Limit
from payments.search.find import Found
from payments.search.query import Query, parse

PUBLIC_ID = re.compile(r"([a-z]{2,5})_([0-9a-f]{32})")
UUID_TEXT = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ID_BEGINNING = re.compile(r"([a-z]{2,5})_([0-9a-f]{8,31})")
LAST4 = re.compile(r"[0-9]{4}")
SEARCHES = "searches"
# An event is written while its request runs, which never takes this long.
LONGEST_REQUEST_MILLISECONDS = 300_000
UUID7_BITS_BELOW_MILLISECONDS = 80
# The lookups of a row about a charge.
OF_CHARGE = {"ch": "charge_id", "src": "charge__source_id"}
NO_IDS: Mapping[str, str] = MappingProxyType({})
ANY_ENTRY = _(
    "Any ID, an amount, a card's last four digits, a name, an e-mail address, words of the order, a reference, "
    "an idempotency key, a day, or several of these."
)
Condition = dict[str, Any]


class IdSearch:
    """The search of a list by public IDs, raw UUIDs and a card's last four digits; other text goes to `search_fields`.

    `ids` names by prefix the lookups, separated by spaces, that take such an ID. `objects` are those that take the ID
    of an object of an event: through these an event's or a request's ID finds its object. `last4` take a card's last
    four digits, and `exact` any text as it is. `named` yields further conditions for a prefix and its UUID, and
    `entries` returns what the search on every page finds of these rows.
    """

    def __init__(
        self,
        ids: Mapping[str, str] = NO_IDS,
        objects: str = "",
        last4: str = "",
        exact: str = "",
        named: Callable[[str, UUID], Iterator[Condition]] = lambda *_: iter(()),
        entries: Callable[[Query, Limit], Found] | None = None,
    ) -> None:
        self.ids = {prefix: lookups.split() for prefix, lookups in ids.items()}
        self.objects, self.last4, self.exact = objects.split(), last4.split(), exact.split()
        self.named, self.entries = named, entries

    def rows(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any] | None:
        """Return the rows of `queryset` that `term` names; None where it is other text."""
        conditions = list(self.conditions(term)) if term else []
        if not conditions:
            return None
        # Each condition finds its rows by its own index, where one long OR would read the whole table.
        manager = queryset.model._default_manager
        first, *others = (manager.filter(**condition).order_by().values("pk") for condition in conditions)
        return queryset.filter(pk__in=first.union(*others) if others else first)

    def conditions(self, term: str) -> Iterator[Condition]:
        """Yield the conditions that find the rows of an ID `term`; nothing for other text."""
        yield from ({lookup: term} for lookup in self.exact)
        if LAST4.fullmatch(term):
            yield from ({lookup: term} for lookup in self.last4)
        elif public := PUBLIC_ID.fullmatch(term.lower()):
            yield from self._named_by(public[1], UUID(hex=public[2]))
        else:
            with suppress(ValueError):
                uuid = UUID(term)
                lookups = {lookup for lookups in self.ids.values() for lookup in lookups}
                yield from ({lookup: uuid} for lookup in sorted(lookups))

    def found_by(self, request: HttpRequest, query: Query) -> Found | None:
        """Return what the search on every page finds of these rows; None where it does not search them."""
        return self.entries(query, limit_of(request)) if self.entries else None

    def is_found_by_index(self, request: HttpRequest, term: str) -> bool:
        """Return whether an index finds the rows of `term` alone."""
        return any(self.conditions(term))

    def begun_by(self, term: str) -> Condition | None:
        """Return the condition for the rows whose public ID begins with `term`, a range of the primary key.

        None where `term` is not the beginning of an ID, at least 8 digits long, or names rows of another page.
        """
        begun = ID_BEGINNING.fullmatch(term.lower())
        if begun is None or "pk" not in self.ids.get(begun[1], ()):
            return None
        first, last = (UUID(hex=begun[2].ljust(32, digit)) for digit in "0f")
        return {"pk__gte": first, "pk__lte": last}

    def _named_by(self, prefix: str, uuid: UUID) -> Iterator[Condition]:
        """Yield the conditions for one public ID."""
        yield from self.named(prefix, uuid)
        yield from ({lookup: uuid} for lookup in self.ids.get(prefix, ()))
        events = events_named_by(prefix, uuid)
        if events is not None:
            objects = events.values("object_id")
            yield from ({f"{lookup}__in": objects} for lookup in self.objects)


class EntrySearch(IdSearch):
    """A search by IDs, and for any other text by search entries (`payments.search`), as the search on every page."""

    def rows(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any] | None:
        named = super().rows(request, queryset, term)
        if named is not None or not term:
            return named
        found = self._found(request, term)
        return queryset.filter(found.condition) if found else queryset.none()

    def is_found_by_index(self, request: HttpRequest, term: str) -> bool:
        """Return whether `term` finds few rows; of many, the newest are looked for among all."""
        if super().is_found_by_index(request, term):
            return True
        found = self._found(request, term)
        return found is None or found.few is not None

    def _found(self, request: HttpRequest, term: str) -> Found | None:
        """Return what `term` finds, once for each request."""
        searches: dict[str, Found | None] = vars(request).setdefault(SEARCHES, {})
        if term not in searches:
            searches[term] = self.found_by(request, parse(term, timezone.localdate(clock.now())))
        return searches[term]


def events_named_by(prefix: str, uuid: UUID) -> QuerySet[Event] | None:
    """Return the event of an `evt` ID or the events of a `req` ID; None for another prefix."""
    if prefix == "evt":
        return Event.objects.filter(id=uuid)
    return events_of_request(uuid) if prefix == "req" else None


def events_of_request(uuid: UUID) -> QuerySet[Event]:
    """Return the events that the request `req_<uuid>` caused.

    No index has its ID, so the few events written in the minutes after it are read: both IDs are UUIDv7 (RFC 9562,
    5.7), whose first 48 bits are milliseconds.
    """
    milliseconds = (uuid.int >> UUID7_BITS_BELOW_MILLISECONDS) + LONGEST_REQUEST_MILLISECONDS
    latest = UUID(int=milliseconds << UUID7_BITS_BELOW_MILLISECONDS & (1 << 128) - 1)
    return Event.objects.filter(request_id=uuid, id__gte=uuid, id__lte=latest)
