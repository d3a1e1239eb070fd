"""The audit log: who did what and when."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import NoReverseMatch
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from payments import clock
from payments.admin.facts import ID
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import by, one_of
from payments.admin.framework.formats import NOTHING, column, lines, link, search_link
from payments.admin.framework.id_search import IdSearch
from payments.concurrency.connections import release_connection
from payments.domain.audit.audit_log import Action
from payments.models import AuditEntry
from payments.models.operators.audit import COVERED
from payments.rendering.csv import csv_line, csv_lines

AT_ONCE = 500
HEADS = ("number", *COVERED, "hash")
IDS = re.compile(f"{ID.pattern}(?:, {ID.pattern})*")


ByWho = by(
    "who",
    operators=("Operators", Q(operator_id__isnull=False)),
    commands=("Commands", Q(operator_id=None) & ~Q(actor="")),
    signed_out=("No operator signed in", Q(actor="")),
)


@admin.register(AuditEntry)
class AuditEntryAdmin(BaseAdmin):
    merchant_lookup = None
    views = {"payments_auditentry_export": ("export/", "export")}
    # Its own file has what the hash of an entry covers.
    is_exported = False
    change_list_template = "admin/payments/auditentry/change_list.html"
    list_display = ("did", "what", "actor", "changes", "reason", "origin", "number", "created")
    file_columns = ("number", "created", "who", "origin", "action", "what", "sort", "changes", "reason")
    list_filter = (ByWho, one_of("action", Action), "created_at")
    search_fields = ("actor",)
    search_help_text = "Who, from where, or the ID of an object or a request: whole."
    search = IdSearch(
        {"": "object_id"},
        exact="actor origin object_id request_id",
        named=lambda _, uuid: iter([{"object_id": str(uuid)}]),
    )
    fieldsets = (
        (None, {"fields": ("number", "created", "action")}),
        ("Who", {"fields": ("actor", "operator_id", "origin", "request_id")}),
        ("What", {"fields": ("what", "object_type", "object_id", "changed", "detail", "reason")}),
        ("Chain", {"fields": ("hash_before", "own_hash")}),
    )
    did = column("Action", lambda entry: capfirst(entry.action.replace("_", " ")))
    who = column("Who", lambda entry: search_link(AuditEntry, entry.actor, entry.actor) if entry.actor else NOTHING)
    what = column("Object", lambda entry: object_link(entry), in_list=lambda entry: _in_words(entry))
    sort = column("Object type", lambda entry: entry.object_sort)
    changed = column("Changed", lambda entry: lines(entry.fields))
    changes = column(
        "What changed",
        lambda entry: lines(filter(None, [", ".join(entry.fields), entry.detail])),
        in_list=lambda entry: IDS.sub("…", ", ".join(filter(None, [*entry.fields, entry.detail]))),
    )
    hash_before = column("Hash of the entry before", lambda entry: bytes(entry.previous_hash or b"").hex())
    own_hash = column("Hash", lambda entry: bytes(entry.hash).hex())

    def may_send(self, request: HttpRequest) -> bool:
        return bool(self.has_view_permission(request))

    def scheduled_lines(self, request: HttpRequest, most: int | None = None) -> Iterable[bytes]:
        found = _oldest_first(self.get_changelist_instance(request).get_queryset(request))
        cut = (csv_line([f"Cut after {most} rows: narrow the list by its filters."]) for _ in islice(found, 1))
        return chain(csv_lines(HEADS, map(_cells, islice(found, most))), cut)

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """Stream the filtered entries as CSV, oldest first, and record the export."""
        if not self.may_send(request):
            raise PermissionDenied
        try:
            lines = self.scheduled_lines(request)
        except IncorrectLookupParameters as error:
            raise Http404 from error
        return self.streamed(request, lines, "audit", f"audit log, {request.GET.urlencode() or 'all'}")


def _oldest_first(found: QuerySet[AuditEntry]) -> Iterator[AuditEntry]:
    """Yield the entries in order, and hold no database connection between batches."""
    last = 0
    while batch := list(found.filter(id__gt=last).order_by("id")[:AT_ONCE]):
        release_connection()
        yield from batch
        last = batch[-1].id


def object_link(entry: AuditEntry) -> SafeString | str:
    """Return the name of what an entry is about, linked where it has a page."""
    name = entry.object_name or NOTHING
    try:
        return link(apps.get_model(entry.object_type), entry.object_id, name)
    except (LookupError, ValueError, NoReverseMatch):
        return name


def _in_words(entry: AuditEntry) -> str:
    """Return what an entry is about: its kind where its name is an ID."""
    return capfirst(entry.object_sort) if ID.search(entry.object_name) else entry.object_name


def _cells(entry: AuditEntry) -> Sequence[object]:
    """Return the cells that the hash of an entry covers, so that `verify_audit` can check a file."""
    values = {name: getattr(entry, name) for name in COVERED}
    values |= {"created_at": clock.iso(entry.created_at), "fields": ", ".join(entry.fields)}
    return (entry.number, *values.values(), bytes(entry.hash).hex())
