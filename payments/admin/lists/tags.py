"""The parts of a list above its rows: chosen filters, filters, saved views and sums."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.admin.views.main import PAGE_VAR, SEARCH_VAR, ChangeList
from django.core.exceptions import EmptyResultSet
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from payments.admin.lists import sums
from payments.admin.lists.mode import PARAMETER, mode_of
from payments.admin.lists.page import MOST_VIEWS, ListPage
from payments.admin.shown_times import NOTHING
from payments.ids import KINDS
from payments.models import FileSchedule, SavedView

register = template.Library()


@dataclass(frozen=True, slots=True)
class Chip:
    """A chosen filter, and the address of the list without it."""

    title: str
    value: str
    without: str


@register.inclusion_tag("admin/payments/lists/filters.html")
def list_filters(cl: ChangeList) -> dict[str, Any]:
    """Return the filters of a list, and those that were chosen."""
    filters: list[Any] = [spec for spec in cl.filter_specs if not hasattr(spec, "is_switch")]
    chosen = list(_chosen(cl, filters))
    nothing = {name: None for spec in filters for name in spec.expected_parameters()}
    all_gone = cl.get_query_string({**nothing, SEARCH_VAR: None, PAGE_VAR: None})
    return {"cl": cl, "filters": filters, "chips": chosen, "without_all": all_gone}


def _chosen(cl: ChangeList, filters: list[Any]) -> Iterator[Chip]:
    if cl.query:
        yield Chip(_("Search"), _in_words(cl.query), cl.get_query_string({SEARCH_VAR: None, PAGE_VAR: None}))
    for spec in filters:
        names = [name for name in spec.expected_parameters() if name]
        given = [name for name in names if cl.params.get(name)]
        if given:
            selected = (str(choice["display"]) for choice in _choices(spec, cl) if choice.get("selected"))
            value = getattr(spec, "shown", None) or next(selected, None) or str(cl.params[given[0]])
            yield Chip(capfirst(_(str(spec.title))), value, cl.get_query_string(dict.fromkeys([*names, PAGE_VAR])))


def _in_words(query: str) -> str:
    """Return what is searched for: of an ID, what it is of."""
    prefix, has_one, _digits = query.partition("_")
    return _("one {thing}").format(thing=_(KINDS[prefix])) if has_one and prefix in KINDS else query


def _choices(spec: Any, cl: ChangeList) -> list[Any]:
    return [] if hasattr(spec, "shown") else list(spec.choices(cl))


@register.inclusion_tag("admin/payments/lists/views.html", takes_context=True)
def list_views(context: template.Context) -> dict[str, Any]:
    """Return the operator's views of this list."""
    cl, request = context["cl"], context["request"]
    page: Any = cl.model_admin
    if not isinstance(page, ListPage):
        return {}
    query = page.filters_in(request.GET.urlencode())
    views = SavedView.objects.filter(user=request.user.pk, model=page.opts.label_lower).order_by("name")
    name = f"{page.opts.app_label}_{page.opts.model_name}"
    return {
        "views": [(view, view.query == query) for view in views[:MOST_VIEWS]],
        "query": query,
        "intervals": FileSchedule.INTERVALS if query and page.may_send(request) else (),
        "has_colleagues": not page.admin_site.is_for_operators,
        "save_address": query and f"{reverse(f'admin:{name}_saveview')}?{PARAMETER}={mode_of(request)}",
        "delete_address": reverse(f"admin:{name}_dropview"),
    }


@register.inclusion_tag("admin/payments/lists/sums.html", takes_context=True)
def list_sums(context: template.Context) -> dict[str, Any]:
    """Return the sums of a list, and whether the operator may have it as a file instead."""
    cl, request = context["cl"], context["request"]
    if not isinstance(cl.model_admin, ListPage):
        return {}
    try:
        found = sums.sums_of(cl)
    except EmptyResultSet:
        found = sums.Sums(0)
    one, many = cl.model_admin.counted if cl.model_admin.counted else cl.model_admin.words
    return {"sums": found, "most": sums.MOST_SUMMED, "one": one, "many": many, "may_export": may_export(cl, request)}


@register.inclusion_tag("admin/payments/lists/empty.html", takes_context=True)
def list_empty(context: template.Context) -> dict[str, Any]:
    """Return what an empty list says: what will be in it and the first step, or which filters leave nothing."""
    cl: Any = context["cl"]
    if cl.result_list or getattr(cl, "is_incomplete", False):
        return {}
    acts = [act for act in context.get("acts") or () if not act.posts]
    shown = {"is_empty": True, "first": acts[0] if acts else None, "may_add": context.get("has_add_permission")}
    return list_filters(cl) | shown | {"has_modes": cl.model_admin.mode_lookup(), "perms": context.get("perms")}


@register.filter
def commas(number: int) -> str:
    """Return `number` as people write it: 50,000."""
    return f"{number:,}"


@register.inclusion_tag("admin/payments/lists/export.html", takes_context=True)
def list_export(context: template.Context) -> dict[str, Any]:
    """Return the address of the list's file, for those who may have it."""
    cl, request = context["cl"], context["request"]
    if not may_export(cl, request):
        return {}
    address = reverse(f"admin:{cl.opts.app_label}_{cl.opts.model_name}_csv")
    return {"address": address + cl.get_query_string({PAGE_VAR: None})}


def may_export(cl: Any, request: Any) -> bool:
    """Return whether the list has a file and the operator may have it."""
    page = cl.model_admin
    return isinstance(page, ListPage) and page.may_export(request)


@register.filter
def bare(cell: SafeString) -> SafeString:
    """Return a cell of a list, empty where a page has a dash."""
    return SafeString(cell.replace(f">{NOTHING}</td>", "></td>"))  # nosec B703 # a constant
