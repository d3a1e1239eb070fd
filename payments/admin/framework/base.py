"""The base classes and filters of the admin's pages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.core.paginator import Paginator
from django.db.models import DateTimeField, Model, Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property

from payments import sourcetypes
from payments.admin.framework.change_audit import Audited
from payments.admin.framework.formats import id_link_column, listed, mode_column, moment_column
from payments.admin.framework.merchant_access import Limited
from payments.admin.framework.object_actions import ActionButton
from payments.admin.framework.pagination import KeysetPaging
from payments.admin.framework.reason_form import with_stored
from payments.admin.lists.mode import MODES, PARAMETER, mode_of, mode_of_row, names_one_object
from payments.admin.lists.page import ListPage
from payments.models import Charge, Merchant

COUNTED_ROWS = 10_000
NEW_ROWS_MAX = 100


class BoundedPaginator(Paginator):
    """A paginator that counts at most COUNTED_ROWS rows."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:COUNTED_ROWS].count())


class CommonColumns:
    """The columns that many tables have."""

    created = moment_column("created_at")
    updated = moment_column("updated_at")
    decided = moment_column("decided_at")
    expires = moment_column("expires_at")
    mode = mode_column()
    of_merchant = id_link_column("merchant", "mer", Merchant)
    charge_link = id_link_column("charge", "ch", Charge)


class ReadOnly:
    """Rows that only the service writes: nobody adds, changes or deletes them here."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class BaseAdmin(CommonColumns, Limited, Audited, ListPage, KeysetPaging):
    """A ModelAdmin whose lists stay fast on large tables: newest first, never counted."""

    ordering = ("-pk",)
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator
    actions: Sequence[str] | None = None

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [listed(type(self), name) for name in self.shown_columns(request)]

    def mode_lookup(self) -> str | None:
        """Return the lookup of the mode of this list's rows; None where they have none."""
        filters: Any = self.list_filter
        return next((one.lookup for one in filters if hasattr(one, "is_switch")), None)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if row := kwargs.get("obj"):
            context.setdefault("acts", self.buttons_of(request, row))
            lookup = self.mode_lookup()
            context["mode_of_row"] = mode_of_row(row, lookup) if lookup else None
        return super().render_change_form(request, context, *args, **kwargs)

    def buttons_of(self, request: HttpRequest, row: Any) -> list[ActionButton]:
        """Return the buttons above `row` on its page, as far as this operator may press them."""
        return []

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Return whether `lookup` belongs to one of the list's own filters.

        Django allows every column, which would reveal unshown ones, such as an encrypted number, letter by letter.
        """
        filters: list[Any] = [*self.get_list_filter(request)]
        offered = {getattr(one, "parameter_name", one) for one in filters}
        typed = {name for one in filters if hasattr(one, "form_class") for name in one.form_class.base_fields}
        return lookup in typed or lookup.partition(LOOKUP_SEP)[0] in offered


class ReadOnlyAdmin(ReadOnly, BaseAdmin):
    """A read-only model. `fieldsets` may name fields and columns of the admin class."""

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return flatten_fieldsets(self.get_fieldsets(request, obj))


class BoundedRows(BaseInlineFormSet):
    """The related rows of a form, with at most NEW_ROWS_MAX new ones, whatever number of rows the form names."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        # Django's bound is 1,000 new rows, which take seconds.
        self.absolute_max = len(self.get_queryset()) + NEW_ROWS_MAX
        self.max_num = min(self.max_num, self.absolute_max)


class ReadOnlyInline(CommonColumns, ReadOnly, admin.TabularInline):
    """Read-only related rows; `fields` may name fields and columns of the inline class."""

    formset = BoundedRows
    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = True

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [str(name) for name in self.fields or ()]


class ByMoment(admin.DateFieldListFilter):
    """Django's filter by days, which takes a moment without an offset as one of the display time zone."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        used: dict[str, Any] = self.used_parameters
        for name, values in used.items():
            # "Has none" is no moment.
            if not name.endswith("__isnull"):
                used[name] = [_with_offset(text) for text in values]


def _with_offset(text: str) -> object:
    """Return the moment that `text` names; any other text as it is, which Django refuses."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        return text
    return timezone.make_aware(moment) if moment and timezone.is_naive(moment) else moment or text


admin.FieldListFilter.register(lambda field: isinstance(field, DateTimeField), ByMoment, take_priority=True)


class Conditions(admin.SimpleListFilter):
    """A filter whose choices each stand for a condition: `conditions` has label and condition by URL value.

    A value that is no choice finds nothing, or the rows whose `column` has it: a saved view may be older than a list.
    """

    conditions: Mapping[str, tuple[str, Q]] = {}
    column = ""

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return with_stored([(value, label) for value, (label, _) in self.conditions.items()], self.value())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if not value:
            return queryset
        if value in self.conditions:
            return queryset.filter(self.conditions[value][1])
        return queryset.filter(**{self.column: value}) if self.column and value.isprintable() else queryset.none()


def by(name: str, /, **conditions: tuple[str, Q]) -> type[Conditions]:
    """Return a filter by `conditions`, with `name` as its title and in addresses."""
    attributes = {"title": name.replace("_", " "), "parameter_name": name, "conditions": conditions}
    return type(f"By{name.title()}", (Conditions,), attributes)


class OfMode(Conditions):
    """The filter by mode, which the switch on top of every page sets. It is not among the filters of the list.

    `lookup` leads to the mode. With `or_without`, rows that have none are shown in both modes.
    """

    title = "mode"
    parameter_name = PARAMETER
    is_switch = True
    lookup = "livemode"
    or_without = False

    def __init__(self, request: HttpRequest, params: Any, model: type[Model], model_admin: admin.ModelAdmin) -> None:
        super().__init__(request, params, model, model_admin)
        self.used_parameters = {} if names_one_object(request) else {PARAMETER: mode_of(request)}

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(mode, mode.capitalize()) for mode in MODES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        mode = self.value()
        if mode is None:
            return queryset
        of_mode = Q(**{self.lookup: MODES[mode]})
        if self.or_without:
            of_mode |= Q(**{f"{self.lookup.rpartition(LOOKUP_SEP)[0]}__isnull": True})
        return queryset.filter(of_mode)


def by_mode_of(relation: str = "", or_without: bool = False) -> type[OfMode]:
    """Return the filter by the mode of a row, or of the one in its foreign key `relation`, which it may lack."""
    attributes = {"lookup": f"{relation}__livemode" if relation else "livemode", "or_without": or_without}
    return type("OfMode", (OfMode,), attributes)


def by_type_of(column: str) -> type[Conditions]:
    """Return a filter by the source type in `column`."""
    found = by("type", **{kind.name: (kind.label, Q(**{column: kind.name})) for kind in sourcetypes.SOURCE_TYPES})
    found.column = column
    return found


ByMode = OfMode


def one_of(name: str, values: Iterable[str]) -> type[Conditions]:
    """Return a filter by the possible values of a field; Django's own would query the table for them."""
    found = by(name, **{value: (value, Q(**{name: value})) for value in values})
    found.column = name
    return found
