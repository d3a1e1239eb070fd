"""What all pages of the admin share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.utils.functional import cached_property

from payments import sourcetypes
from payments.admin.framework.change_audit import Audited
from payments.admin.framework.merchant_access import Limited
from payments.admin.framework.paging import KeysetPaging

COUNTED_ROWS = 10_000


class BoundedPaginator(Paginator):
    """Counts and pages through the first COUNTED_ROWS rows of a list that has an order of its own."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:COUNTED_ROWS].count())


class LookOnly:
    """Rows that only the service itself writes: nobody adds, changes or deletes them here, superusers included."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class KahaAdmin(Limited, Audited, KeysetPaging):
    """Lists that stay fast on large tables: newest first by primary key, never counted to the end."""

    ordering = ("-pk",)
    sortable_by = ()
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator
    actions: Sequence[str] | None = None

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Whether the address of a list may narrow it so: by the list's own filters.

        Django's takes every column, and so gives away letter by letter what no page shows, such as a sealed number.
        """
        filters: list[Any] = [*self.get_list_filter(request)]
        offered = {getattr(one, "parameter_name", one) for one in filters}
        typed = {name for one in filters if hasattr(one, "form_class") for name in one.form_class.base_fields}
        return lookup in typed or lookup.partition(LOOKUP_SEP)[0] in offered


class LookOnlyAdmin(LookOnly, KahaAdmin):
    """A model whose rows are looked at. `fieldsets` may name fields, and columns of the admin class."""

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return flatten_fieldsets(self.get_fieldsets(request, obj))


class LookOnlyInline(LookOnly, admin.TabularInline):
    """Rows that belong to the one shown; `fields` may name fields, and columns of the inline class."""

    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = True

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [str(name) for name in self.fields or ()]


class Conditions(admin.SimpleListFilter):
    """A filter whose choices each stand for a condition: `conditions` has label and condition by URL value."""

    conditions: Mapping[str, tuple[str, Q]] = {}

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(value, label) for value, (label, _) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.conditions.get(self.value() or "")
        return queryset.filter(chosen[1]) if chosen else queryset


class ByMode(Conditions):
    title = "mode"
    parameter_name = "mode"
    conditions = {"live": ("Live", Q(livemode=True)), "test": ("Test", Q(livemode=False))}


def by_mode_of(relation: str) -> type[Conditions]:
    """A filter by the mode of the row in the foreign key `relation`."""
    name = f"{relation}__livemode"
    conditions = {"live": ("Live", Q(**{name: True})), "test": ("Test", Q(**{name: False}))}
    return type("ByModeOfAnother", (ByMode,), {"conditions": conditions})


class BySourceType(Conditions):
    title = "type"
    parameter_name = "type"
    conditions = {kind.name: (kind.label, Q(type=kind.name)) for kind in sourcetypes.SOURCE_TYPES}


def one_of(name: str, values: Iterable[str]) -> type[Conditions]:
    """A filter by the values that the field `name` may have; Django's own would read the table for them."""
    conditions = {value: (value, Q(**{name: value})) for value in values}
    attributes = {"title": name.replace("_", " "), "parameter_name": name, "conditions": conditions}
    return type(f"By{name.title()}", (Conditions,), attributes)
