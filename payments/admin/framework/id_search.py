"""Search by any ID, as a merchant, a payer or a log line names it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from payments import clock
from payments.models import Event
from payments.search.find import Found
from payments.search.query import Query, parse

PUBLIC_ID = re.compile(r"([a-z]{2,4})_([0-9a-f]{32})")
UUID_TEXT = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ID_BEGINNING = re.compile(r"([a-z]{2,4})_([0-9a-f]{8,31})")
LAST4 = re.compile(r"[0-9]{4}")
SEARCHES = "searches"
# An event is written while its request runs, which never takes this long.
LONGEST_REQUEST_MILLISECONDS = 300_000
UUID7_BITS_BELOW_MILLISECONDS = 80


class IdSearch(admin.ModelAdmin):
    """A search by public IDs, raw UUIDs and a card's last four digits; other text goes to `search_fields`.

    `uuid_lookups` names by prefix the lookups that take such an ID. `object_lookups` are those that take the ID of an
    object of an event: through these an event's or a request's ID finds its object.
    `exact_lookups` take any text as it is.
    """

    uuid_lookups: Mapping[str, tuple[str, ...]] = {}
    object_lookups: tuple[str, ...] = ()
    last4_lookups: tuple[str, ...] = ()
    exact_lookups: tuple[str, ...] = ()
    search_help_text = "Any ID, whole, or text."

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        conditions = list(self.conditions(term)) if term else []
        if not conditions:
            return super().get_search_results(request, queryset, search_term)
        # Each condition finds its rows by its own index, where one long OR would read the whole table.
        first, *others = (
            self.model._default_manager.filter(**condition).order_by().values("pk") for condition in conditions
        )
        return queryset.filter(pk__in=first.union(*others) if others else first), False

    def conditions(self, term: str) -> Iterator[dict[str, Any]]:
        """Yield the conditions that find the rows of an ID `term`; nothing for other text."""
        yield from ({lookup: term} for lookup in self.exact_lookups)
        if LAST4.fullmatch(term):
            yield from ({lookup: term} for lookup in self.last4_lookups)
        elif public := PUBLIC_ID.fullmatch(term.lower()):
            yield from self.named_by(public[1], UUID(hex=public[2]))
        else:
            with suppress(ValueError):
                uuid = UUID(term)
                lookups = {lookup for lookups in self.uuid_lookups.values() for lookup in lookups}
                yield from ({lookup: uuid} for lookup in sorted(lookups))

    def found_by(self, request: HttpRequest, query: Query) -> Found | None:
        """Return what the search on every page finds of this page's rows; None where it does not search them."""
        return None

    def is_found_by_index(self, request: HttpRequest, term: str) -> bool:
        """Return whether an index finds the rows of `term` alone."""
        return any(self.conditions(term))

    def begun_by(self, term: str) -> dict[str, Any] | None:
        """Return the condition for this page's rows whose public ID begins with `term`, a range of the primary key.

        None where `term` is not the beginning of an ID, at least 8 digits long, or names rows of another page.
        """
        begun = ID_BEGINNING.fullmatch(term.lower())
        if begun is None or "pk" not in self.uuid_lookups.get(begun[1], ()):
            return None
        first, last = (UUID(hex=begun[2].ljust(32, digit)) for digit in "0f")
        return {"pk__gte": first, "pk__lte": last}

    def named_by(self, prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
        """Yield the conditions for one public ID."""
        yield from ({lookup: uuid} for lookup in self.uuid_lookups.get(prefix, ()))
        events = events_named_by(prefix, uuid)
        if events is not None:
            objects = events.values("object_id")
            yield from ({f"{lookup}__in": objects} for lookup in self.object_lookups)


class EntrySearch(IdSearch):
    """A search by IDs, and for any other text by search entries (`payments.search`), as the search on every page."""

    search_help_text = (
        "Any ID, an amount, a card's last four digits, a name, an e-mail address, words of the order, a reference, "
        "an idempotency key, a day, or several of these."
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term or any(self.conditions(term)):
            return super().get_search_results(request, queryset, term)
        found = self._found(request, term)
        return (queryset.filter(found.condition) if found else queryset.none()), False

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
