"""The search on every page of the admin: an ID opens its page, its beginning and anything else lists what has it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.utils import label_for_field, lookup_field
from django.db import OperationalError, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from payments import clock
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.id_search import ID_BEGINNING, PUBLIC_ID, UUID_TEXT
from payments.concurrency.connections import allow_long_statements
from payments.search import find as index
from payments.search.query import Query, parse
from payments.sensitive_data.card_numbers import holds_taken_card
from payments.staff.admin_site.search_terms import REFUSED, TERM_MAX_LENGTH
from payments.staff.sites import site_of

SHOWN_OF_EACH = 10
# A search that takes longer would find too much to be of use.
STATEMENT_TIMEOUT = "2s"


@dataclass(frozen=True)
class Cell:
    """One value of a row; the style sheet of lists knows its classes."""

    classes: str
    heading: str
    value: Any


@dataclass(frozen=True)
class Group:
    """The newest rows of one model that were found, as its list shows them: each the address of its page, and cells."""

    label: str
    css_class: str
    rows: list[tuple[str, list[Cell]]]
    has_more: bool
    # The lists of all that was found, one for each mode that the rows are of.
    lists: dict[str, str]


@require_http_methods(["GET", "HEAD", "POST"])
def find(request: HttpRequest) -> HttpResponse:
    """Redirect to the page of the row with this ID; else list what an ID's beginning or a text finds."""
    term = (request.POST if request.method == "POST" else request.GET).get("q", "").strip()
    # The term of an address was looked at before; that of a form was not.
    if holds_taken_card(term) or len(term) > TERM_MAX_LENGTH:
        messages.warning(request, REFUSED)
        return redirect("admin:index")
    if request.method == "POST":
        # A browser that goes back to what was found asks for an address, and sends no form again.
        return redirect(f"{reverse('admin:find')}?{urlencode({'q': term})}")
    row = next(_named_by(request, term), None)
    if row is not None:
        return redirect(_page_of(row))
    if not term or PUBLIC_ID.fullmatch(term.lower()) or UUID_TEXT.fullmatch(term.lower()):
        return redirect(f"{reverse('admin:payments_charge_changelist')}?{urlencode({'q': term})}")
    if ID_BEGINNING.fullmatch(term.lower()):
        groups = list(_groups(request, _begun_by(request, term), ""))
        if len(groups) == 1 and len(groups[0].rows) == 1:
            return redirect(groups[0].rows[0][0])
        return _page(request, term, groups=groups)
    query = parse(term, timezone.localdate(clock.now()))
    try:
        with transaction.atomic():
            allow_long_statements(STATEMENT_TIMEOUT)
            groups = list(_groups(request, _found_by(request, query), term))
            near = None if groups else index.with_one_error(query)
            # The lists search for what was typed, so that no link leads to them.
            near_groups = list(_groups(request, _found_by(request, near), "")) if near else []
    except OperationalError:
        return _page(request, term, query=query, took_too_long=True)
    return _page(request, term, query=query, groups=groups or near_groups, is_near=bool(near_groups))


def _page(request: HttpRequest, term: str, query: Query | None = None, **context: Any) -> HttpResponse:
    """Return the page; it offers to leave out one part of a query of several."""
    parts = query.parts if query else []
    fewer = [" ".join(parts[:place] + parts[place + 1 :]) for place in range(len(parts))] if len(parts) > 1 else []
    facts = {"term": term, "query": query, "fewer": fewer, "complete_to": query and index.complete_to()}
    context = {**site_of(request).each_context(request), "title": _("Search"), **facts, **context}
    return TemplateResponse(request, "admin/found.html", context)


def _begun_by(request: HttpRequest, term: str) -> Iterator[tuple[BaseAdmin, QuerySet[Any]]]:
    """Yield the pages with their rows whose ID begins with `term`."""
    for page in _pages(request):
        condition = page.search.begun_by(term)
        if condition is not None:
            yield page, page.get_queryset(request).filter(**condition)


def _found_by(request: HttpRequest, query: Query) -> Iterator[tuple[BaseAdmin, QuerySet[Any]]]:
    """Yield the pages with their rows that `query` finds."""
    for page in _pages(request):
        found = page.search.found_by(request, query)
        if found is not None:
            yield page, page.get_queryset(request).filter(pk__in=found.newest(SHOWN_OF_EACH + 1))


def _groups(request: HttpRequest, found: Iterator[tuple[BaseAdmin, QuerySet[Any]]], term: str) -> Iterator[Group]:
    """Yield a group for each page of which something was found; `term` leads to its list, if it finds them too."""
    for page, rows in found:
        related = page.get_list_select_related(request)
        joined = rows.select_related(*related) if isinstance(related, Sequence) else rows
        newest = list(joined.order_by("-pk")[: SHOWN_OF_EACH + 1])
        if newest:
            page.complete(newest)
            yield _group(request, page, newest, term)


def _group(request: HttpRequest, page: BaseAdmin, newest: list[Any], term: str) -> Group:
    columns: list[Any] = [*page.get_list_display(request)]
    if hasattr(newest[0], "livemode") and "mode" not in columns:
        columns.append("mode")
    heads = [
        (column, f"field-{getattr(column, '__name__', column)}", _(str(label_for_field(column, page.model, page))))
        for column in columns
    ]
    rows = [
        (_page_of(row), [Cell(classes, heading, lookup_field(name, row, page)[2]) for name, classes, heading in heads])
        for row in newest[:SHOWN_OF_EACH]
    ]
    return Group(
        str(page.opts.verbose_name_plural),
        f"model-{page.opts.model_name}",
        rows,
        len(newest) > SHOWN_OF_EACH,
        _lists_of(page, newest, term) if term else {},
    )


def _lists_of(page: BaseAdmin, rows: list[Any], term: str) -> dict[str, str]:
    address = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist")
    if not hasattr(rows[0], "livemode"):
        return {_("all"): f"{address}?{urlencode({'q': term})}"}
    modes = {"live" if row.livemode else "test" for row in rows}
    return {
        _("all in {mode} mode").format(mode=_(mode)): f"{address}?{urlencode({'q': term, 'mode': mode})}"
        for mode in sorted(modes)
    }


def _pages(request: HttpRequest) -> list[Any]:
    return [page for page in site_of(request).pages() if page.has_view_permission(request)]


def _page_of(row: Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def _named_by(request: HttpRequest, term: str) -> Iterator[Model]:
    """Yield the rows with the ID `term` that the operator may see."""
    for page in _pages(request):
        own = (condition for condition in page.search.conditions(term) if set(condition) == {"pk"})
        for condition in own:
            yield from page.get_queryset(request).filter(**condition)
