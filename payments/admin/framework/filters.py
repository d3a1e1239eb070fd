"""The filters of the admin's lists whose choices are links."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from django.contrib import admin
from django.db.models import DateTimeField, Model, Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from payments import sourcetypes
from payments.admin.framework.reason_form import with_stored
from payments.admin.lists.mode import MODES, PARAMETER, mode_of, names_one_object

# More choices than people read.
MOST_ROWS = 30


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

    conditions: Mapping[str, tuple[Any, Q]] = {}
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


def by(name: str, /, **conditions: tuple[Any, Q]) -> type[Conditions]:
    """Return a filter by `conditions`, with `name` as its title and in addresses."""
    attributes = {"title": _(name.replace("_", " ")), "parameter_name": name, "conditions": conditions}
    return type(f"By{name.title()}", (Conditions,), attributes)


class OfMode(Conditions):
    """The filter by mode, which the switch on top of every page sets. It is not among the filters of the list.

    `lookup` leads to the mode. With `or_without`, rows that have none are shown in both modes.
    """

    title = _("mode")
    parameter_name = PARAMETER
    is_switch = True
    lookup = "livemode"
    or_without = False

    def __init__(self, request: HttpRequest, params: Any, model: type[Model], model_admin: admin.ModelAdmin) -> None:
        super().__init__(request, params, model, model_admin)
        self.used_parameters = {} if names_one_object(request) else {PARAMETER: mode_of(request)}

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[Any]:
        return [(mode, capfirst(_(mode))) for mode in MODES]

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


class ByRow(Conditions):
    """A filter by one of the newest rows of `model` that the person sees, which `column` refers to."""

    model: type[Model]

    def __init__(self, request: HttpRequest, params: Any, model: type[Model], model_admin: Any) -> None:
        rows = model_admin.admin_site.get_model_admin(self.model).get_queryset(request).order_by("-pk")
        self.conditions = {row.pk.hex: (str(row), Q(**{self.column: row.pk})) for row in rows[:MOST_ROWS]}
        super().__init__(request, params, model, model_admin)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        # Of a row that is not among the newest, or not seen, nothing is found.
        return super().queryset(request, queryset) if self.value() in (None, *self.conditions) else queryset.none()


def by_row(name: str, model: type[Model], column: str) -> type[ByRow]:
    attributes = {"title": _(name), "parameter_name": name, "model": model, "column": column}
    return type(f"By{model.__name__}", (ByRow,), attributes)


def one_of(name: str, values: Iterable[str], names: Mapping[str, str] = MappingProxyType({})) -> type[Conditions]:
    """Return a filter by the possible values of a field; Django's own would query the table for them.

    `names` are those that no words of the values are.
    """
    labels = {value: names.get(value) or _(capfirst(value.replace("_", " "))) for value in values}
    found = by(name, **{value: (label, Q(**{name: value})) for value, label in labels.items()})
    found.column = name
    return found
