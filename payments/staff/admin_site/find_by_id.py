"""The search box for IDs on every page of the admin."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from payments.admin.framework.id_search import ID_BEGINNING, IdSearch
from payments.sensitive_data.card_numbers import holds_card_number
from payments.staff.admin_site.search_terms import REFUSED

SHOWN_OF_EACH = 10


@dataclass(frozen=True)
class Group:
    """The newest rows of one model that were found, each with the address of its page."""

    label: str
    rows: list[tuple[str, Model]]
    has_more: bool


@require_http_methods(["GET", "HEAD", "POST"])
def find(request: HttpRequest) -> HttpResponse:
    """Redirect to the page of the row with this ID; list those of an ID's beginning; else redirect to the charges."""
    term = (request.POST or request.GET).get("q", "").strip()
    if holds_card_number(term):
        messages.warning(request, REFUSED)
        return redirect("admin:index")
    row = next(_named_by(request, term), None)
    if row is not None:
        return redirect(_page_of(row))
    if not ID_BEGINNING.fullmatch(term.lower()):
        return redirect(f"{reverse('admin:payments_charge_changelist')}?{urlencode({'q': term})}")
    groups = list(_begun_by(request, term))
    if len(groups) == 1 and len(groups[0].rows) == 1:
        return redirect(groups[0].rows[0][0])
    context = {**admin.site.each_context(request), "title": "Search", "term": term, "groups": groups}
    return TemplateResponse(request, "admin/found.html", context)


def _begun_by(request: HttpRequest, term: str) -> Iterator[Group]:
    """Yield the rows that the operator may see whose ID begins with `term`, grouped by model."""
    for page in admin.site._registry.values():
        if not isinstance(page, IdSearch) or not page.has_view_permission(request):
            continue
        condition = page.begun_by(term)
        if condition is None:
            continue
        found = list(page.get_queryset(request).filter(**condition).order_by("-pk")[: SHOWN_OF_EACH + 1])
        if found:
            rows = [(_page_of(row), row) for row in found[:SHOWN_OF_EACH]]
            yield Group(str(page.opts.verbose_name_plural), rows, len(found) > SHOWN_OF_EACH)


def _page_of(row: Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def _named_by(request: HttpRequest, term: str) -> Iterator[Model]:
    """Yield the rows with the ID `term` that the operator may see."""
    for page in admin.site._registry.values():
        if isinstance(page, IdSearch) and page.has_view_permission(request):
            own = (condition for condition in page.conditions(term) if set(condition) == {"pk"})
            for condition in own:
                yield from page.get_queryset(request).filter(**condition)
