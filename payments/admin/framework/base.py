"""What every page of the admin has: its rows, its list, its search, its buttons, its audit entries."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.forms import HiddenInput
from django.forms.models import BaseInlineFormSet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.facts import ID, changed_fields, seen_groups, shown_facts, shown_rows
from payments.admin.framework.actions import OnChosen, page_of
from payments.admin.framework.change_audit import Audited
from payments.admin.framework.formats import field_columns, id_link_column, listed, mode_column, row_link_column
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.index_scan import IndexPath
from payments.admin.framework.merchant_access import Policy, limit_of
from payments.admin.framework.object_actions import ActionButton, Part, address_of
from payments.admin.framework.pagination import NEWEST_FIRST, KeysetList, NumberedList, used_by
from payments.admin.lists.mode import mode_of_row
from payments.admin.lists.page import ListPage
from payments.models import Charge, Merchant
from payments.models.merchants.merchant_access import within

COUNTED_ROWS = 10_000
NEW_ROWS_MAX = 100

# Written here, because a widget renders a template for each row.
CHECKBOX = '<input type="checkbox" name="{}" value="{}" class="action-select" aria-label="{}" data-acts="{}">'


class BoundedPaginator(Paginator):
    """A paginator that counts at most COUNTED_ROWS rows."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:COUNTED_ROWS].count())


class CommonColumns:
    """The columns that many tables have."""

    mode = mode_column()
    of_merchant = row_link_column("merchant", Merchant)
    charge_link = id_link_column("charge", "ch", Charge)

    def add_field_columns(self, model: type[Model]) -> None:
        """Add the columns that fields of `model` make, where the page has none of its own under their names."""
        for name, made in field_columns(model).items():
            if not hasattr(self, name):
                # A column is a function of its page and a row.
                setattr(self, name, MethodType(made, self))


class BaseAdmin(CommonColumns, Audited, ListPage):
    """A page whose lists stay fast on large tables: newest first, never counted.

    It shows operators the rows of their merchants alone. `merchant_lookup` leads from a row to its merchant; None means
    that rows belong to no merchant: such a page is only for operators who work for all. `views` has the page's further
    addresses by their names, each with its method. `search` finds rows by ID. `row_actions` are done to one row or to
    chosen ones, or make another, and `parts` are shown beside. The page of a row has a headline, its state, one action
    and a menu, and facts in cards; with `?edit`, and after a POST that was refused, it has the form of what may be
    changed.

    `for_merchants` names, separated by spaces, what of it a merchant's people see on their own site: columns, fields,
    filters, searched fields and heads of a file. The `policy` says it of all pages. A site makes a page with
    `arguments` in place of its attributes.
    """

    policy = Policy()
    # Whether people add and change rows with a form; others are written by the service alone.
    is_edited = False

    merchant_lookup: str | None = "merchant"
    for_merchants = ""
    search = IdSearch()
    search_help_text: ClassVar[Any] = _("Any ID, whole, or text.")
    row_actions: Sequence[Part] = ()
    parts: Sequence[Part] = ()
    # The reason of each action, where its form asks for none.
    given_reason = ""
    # How addresses have the primary key.
    key_converter = "uuid"
    views: Mapping[str, tuple[str, str]] = {}
    # The list leads to its one row, whose page takes its place.
    has_one_row = False
    ordering = NEWEST_FIRST
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator
    actions: Sequence[str] | None = None
    # What the head of the page of a row says beside its headline, and which groups of fields stand folded at its end.
    head_columns: Sequence[str] = ("shown_status", "shown_state", "public_id")
    folded: Sequence[Any] = (_("References"), _("Times"), _("Events"), _("As sent"), _("All fields"))
    change_list_template = "admin/payments/keyset_list.html"

    def __init__(self, model: type[Model], site: Any, **arguments: Any) -> None:
        super().__init__(model, site)
        self.add_field_columns(model)
        for name, value in arguments.items():
            # A column is a function of its page and a row.
            setattr(self, name, MethodType(value, self) if hasattr(value, "in_list") else value)
        self.list_display = self.policy.seen(self, self.list_display)
        self.file_columns = self.policy.seen(self, self.file_columns)
        self.head_columns = self.policy.seen(self, self.head_columns)
        if self.file_cells:
            self.file_cells = {head: self.file_cells[head] for head in self.policy.seen(self, self.file_cells)}

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [path(route, view(getattr(self, method)), name=name) for name, (route, method) in self.views.items()]
        return [*own, *(url for part in self.all_parts for url in part.urls(self)), *super().get_urls()]

    @property
    def all_parts(self) -> Sequence[Part]:
        """The parts and the actions, in the order of their buttons."""
        return [part for part in (*self.parts, *self.row_actions) if self.policy.sees_part(part)]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return what may be done with chosen rows. A list without any such act has no boxes to choose rows by."""
        found = {name: one for part in self.all_parts for name, one in part.of_list(self, request).items()}
        if found and self.may_export(request):
            found["export"] = (ListPage.export_chosen, "export", _("Export"))
        return found

    def action_checkbox(self, obj: Any) -> SafeString:
        """Return what chooses a row: it is named in words, and says which actions on chosen rows it allows."""
        allowed = ["export"] + [part.name for part in self.all_parts if isinstance(part, OnChosen) and part.fits(obj)]
        named = gettext("Choose {row}").format(row=self.headline(obj))
        return format_html(CHECKBOX, ACTION_CHECKBOX_NAME, obj.pk, named, " ".join(allowed))

    def may_act_on(self, request: HttpRequest, row: Any) -> bool:
        """Return whether this person may act on `row` at all."""
        return True

    def prepare_form(self, form: Any) -> None:
        """Change the form of an action to how this page shows it."""
        if self.given_reason and "reason" in form.fields:
            # A form takes nothing else for a field that is disabled.
            reason = form.fields["reason"]
            reason.disabled, reason.initial, reason.widget = True, self.given_reason, HiddenInput()

    def people_beside(self, request: HttpRequest, row: Any) -> Sequence[Any]:
        """Return whom `row` is about, for the page of an action on it."""
        return [person for part in self.all_parts for person in part.people(self, request, row)]

    def page_after(self, row: Any) -> str:
        """Return the address that one lands on after an action on `row`: its own, or that of the list."""
        return page_of(row) if isinstance(row, self.model) else address_of(self, "changelist")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows, limit = super().get_queryset(request), limit_of(request)
        if self.merchant_lookup:
            return self.policy.rows(request, rows.filter(within(limit, self.merchant_lookup)))
        return rows if limit is None else rows.none()

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) and self._is_for(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.is_edited and super().has_add_permission(request) and self._is_for(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_edited and super().has_delete_permission(request, obj)

    def may_change(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether this operator may change `obj`."""
        return self.is_edited and super().has_change_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Django shows facts in place of a form to operators who may not change a row.
        return not getattr(request, "shows_facts", False) and self.may_change(request, obj)

    def _is_for(self, request: HttpRequest) -> bool:
        return bool(self.merchant_lookup) or limit_of(request) is None

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the row; raise Http404 where Django would redirect with a message. Others get its 403 all the same."""
        found = super().get_object(request, object_id, from_field)
        if found:
            self.complete([found])
        elif self.has_view_or_change_permission(request):
            raise Http404
        return found

    def complete(self, rows: Any) -> None:
        """Load what the columns of `rows` need beside the rows, for all of them at once, as the site shows it."""
        self.policy.complete(rows)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return keyset pages for a list in the order of its primary key, newest first; numbered ones for others."""
        return KeysetList if tuple(self.get_ordering(request)) == NEWEST_FIRST else NumberedList

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist: Any = super().get_changelist_instance(request)
        self.complete(changelist.result_list)
        return changelist

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [listed(self, name) for name in self.shown_columns(request)]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        found = self.search.rows(request, queryset, search_term.strip())
        return super().get_search_results(request, queryset, search_term) if found is None else (found, False)

    def index_path(self, request: HttpRequest, changelist: KeysetList) -> IndexPath:
        """Return the index that finds the rows of this list."""
        return IndexPath()

    def skips_rows(self, changelist: KeysetList, path: IndexPath) -> bool:
        """Return whether a scan of `path` may skip most rows, so that it must be bounded."""
        if changelist.query:
            return not self.search.is_found_by_index(changelist.request, changelist.query.strip())
        used = {name for spec in changelist.filter_specs for name in used_by(spec, changelist.order)}
        return bool(used - path.filters)

    def mode_lookup(self) -> str | None:
        """Return the lookup of the mode of this list's rows; None where they have none."""
        filters: Any = self.list_filter
        return next((one.lookup for one in filters if hasattr(one, "is_switch")), None)

    def mode_of(self, row: Any) -> str | None:
        """Return the mode of a row of this list; None where it has none."""
        lookup = self.mode_lookup()
        return mode_of_row(row, lookup) if lookup else None

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Return whether `lookup` belongs to one of the list's own filters.

        Django allows every column, which would reveal unshown ones, such as an encrypted number, letter by letter.
        """
        filters: list[Any] = [*self.get_list_filter(request)]
        offered = {getattr(one, "parameter_name", one) for one in filters}
        typed = {name for one in filters if hasattr(one, "form_class") for name in one.form_class.base_fields}
        return lookup in typed or lookup.partition(LOOKUP_SEP)[0] in offered

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        """Return what the template of this list shows beside its rows, such as its `subtitle`."""
        return {}

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        acts = [act for part in self.all_parts for act in part.buttons_above(self, request)]
        beside = {"acts": acts} | self.beside_list(request)
        response: Any = super().changelist_view(request, beside | (extra_context or {}))
        changelist = getattr(response, "context_data", {}).get("cl")
        for part in self.all_parts if changelist is not None else ():
            response.context_data |= part.beside_list(self, request, changelist)
        return response

    def beside_row(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return what the template of the page of `row` shows beside its fields."""
        edit = [ActionButton(_("Edit"), "?edit=1")] if self.may_change(request, row) else []
        shown = {
            "acts": [] if self.has_change_permission(request, row) else [*self.buttons_of(request, row), *edit],
            "mode_of_row": self.mode_of(row),
            "title": self.headline(row),
            # The title of the window is the headline, and no ID.
            "subtitle": "",
            "marks": self.marks(row),
        }
        return shown | {name: it for part in self.all_parts for name, it in part.beside_row(self, request, row).items()}

    def headline(self, row: Any) -> str:
        """Return in words what `row` is, without an ID, which stands below."""
        kind = capfirst(self.words[0])
        return kind if ID.search(str(row)) else f"{kind} {row}"

    def marks(self, row: Any) -> list[Any]:
        """Return the state of `row` and its ID, which stand below the headline."""
        columns = filter(None, (getattr(self, name, None) for name in self.head_columns))
        return [(getattr(column, "in_list", None) or column)(row) for column in columns]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the groups of fields; those of a form have only what it changes."""
        groups = seen_groups(super().get_fieldsets(request, obj), partial(self.policy.sees_field, self, request))
        if not self.has_change_permission(request, obj):
            return groups
        return changed_fields(groups, self.get_readonly_fields(request, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if self.is_edited:
            return super().get_readonly_fields(request, obj)
        return flatten_fieldsets(self.get_fieldsets(request, obj))

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return self.policy.seen(self, super().get_search_fields(request))

    def get_list_filter(self, request: HttpRequest) -> Any:
        filters: list[Any] = [*super().get_list_filter(request)]
        return [one for one in filters if self.policy.sees(self, getattr(one, "parameter_name", one))]

    def get_inline_instances(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        inlines: list[Any] = super().get_inline_instances(request, obj)
        for inline in inlines:
            inline.fields = inline.fields and self.policy.seen(inline, inline.fields)
        return [inline for inline in inlines if inline.fields is None or inline.fields]

    def history_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show who did what; raise Http404 on the merchants' site, where it stands on the page of the row."""
        if not self.policy.is_for_operators:
            raise Http404
        return super().history_view(request, *args, **kwargs)

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        """Return the related rows; those of a form are what it changes."""
        inlines = super().get_inlines(request, obj)
        is_form = self.has_change_permission(request, obj)
        return [one for one in inlines if one.can_delete or not is_form]

    def changeform_view(self, request: Any, object_id: str | None = None, *args: Any, **kwargs: Any) -> HttpResponse:
        request.shows_facts = object_id is not None and request.method != "POST" and "edit" not in request.GET
        return super().changeform_view(request, object_id, *args, **kwargs)

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        return redirect(page_of(obj))

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if row := kwargs.get("obj"):
            context |= self.beside_row(request, row)
            if not self.has_change_permission(request, row):
                context |= shown_facts(context["adminform"], (*self.head_columns, "mode"), self.folded)
                context["tables"] = shown_rows(context["inline_admin_formsets"])
        return super().render_change_form(request, context, *args, **kwargs)

    def buttons_of(self, request: HttpRequest, row: Any) -> list[ActionButton]:
        """Return the buttons above `row` on its page, as far as this operator may press them."""
        return [button for part in self.all_parts for button in part.buttons(self, request, row)]


def never(page: Any, request: HttpRequest, obj: Model | None = None) -> bool:
    """Return False: only the service writes these rows, and nobody adds, changes or deletes them on a page."""
    return False


class BoundedRows(BaseInlineFormSet):
    """The related rows of a form, with at most NEW_ROWS_MAX new ones, whatever number of rows the form names."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        # Django's bound is 1,000 new rows, which take seconds.
        self.absolute_max = len(self.get_queryset()) + NEW_ROWS_MAX
        self.max_num = min(self.max_num, self.absolute_max)


class ReadOnlyInline(CommonColumns, admin.TabularInline):
    """Read-only related rows; `fields` and `for_merchants` may name fields and columns of the inline class."""

    for_merchants = ""

    has_add_permission = has_change_permission = has_delete_permission = never
    formset = BoundedRows
    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = True

    def __init__(self, parent_model: type[Model], site: Any) -> None:
        super().__init__(parent_model, site)
        self.add_field_columns(self.model)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [str(name) for name in self.fields or ()]
