"""Filters with a form of their own, whose fields are in the address."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from payments.admin.form_fields import DayField, LongSelect
from payments.admin.shown_times import day_text, offset_text
from payments.ids import first_id
from payments.models import Merchant
from payments.money import DEFAULT_CURRENCY, KNOWN_CURRENCIES, parse_amount, plain_amount
from payments.overview.days import DAY


class FormFilter(ABC, admin.ListFilter):
    """A filter by the fields of `form_class`, the first of which is `parameter_name`. Invalid input finds nothing."""

    template = "admin/payments/filter_form.html"
    parameter_name: ClassVar[str]
    form_class: ClassVar[type[forms.Form]]
    used_parameters: dict[str, Any]

    def __init__(self, request: HttpRequest, params: Any, model: type[Model], model_admin: admin.ModelAdmin) -> None:
        super().__init__(request, params, model, model_admin)
        typed = {name: params.pop(name)[-1] for name in self.form_class.base_fields if name in params}
        self.form = self.form_class(typed or None, auto_id="filter_%s")
        self.prepare(request, model_admin)
        if self.form.is_bound and self.form.is_valid():
            self.used_parameters = {name: value for name, value in self.form.cleaned_data.items() if value}

    def prepare(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> None:
        """Set the choices of the form."""

    def has_output(self) -> bool:
        return True

    def expected_parameters(self) -> list[str | None]:
        return [*self.form_class.base_fields]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield the other parameters of the address, which the form sends along."""
        names = self.expected_parameters()
        yield from ((name, value) for name, value in changelist.params.items() if name not in names)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.form.is_bound and not self.form.is_valid():
            return queryset.none()
        return queryset.filter(self.condition()) if self.used_parameters else queryset

    @property
    def shown(self) -> str:
        """Return the form's values as one reads them."""
        return self.words() if self.form.is_valid() else gettext("not valid")

    @abstractmethod
    def condition(self) -> Q:
        """Return the condition for the form's values."""

    @abstractmethod
    def words(self) -> str:
        """Return the values of a valid form in words."""


class MerchantForm(forms.Form):
    merchant = forms.ModelChoiceField(
        Merchant.objects.none(), required=False, empty_label=_("All"), label=_("Merchant")
    )


class ByMerchant(FormFilter):
    """A filter by a merchant that the operator may see."""

    title = _("merchant")
    parameter_name = "merchant"
    form_class = MerchantForm

    def prepare(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> None:
        page = model_admin.admin_site.get_model_admin(Merchant)
        choices: Any = self.form.fields["merchant"]
        choices.queryset = page.get_queryset(request).order_by("title")
        choices.label_from_instance = lambda merchant: merchant.title

    def condition(self) -> Q:
        return Q(merchant=self.used_parameters["merchant"])

    def words(self) -> str:
        return str(getattr(self.used_parameters.get("merchant"), "title", gettext("all")))


class DaysForm(forms.Form):
    since = DayField(required=False, label=pgettext_lazy("span", "From"))
    until = DayField(required=False, label=pgettext_lazy("span", "To"))


class ByDays(FormFilter):
    """A filter by the days of creation in the display time zone; IDs contain the moment."""

    title: Any = _("day")
    parameter_name = "since"
    form_class = DaysForm

    def prepare(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> None:
        self.title = f"{gettext('day')} ({offset_text(timezone.localtime())})"

    @property
    def bounds(self) -> tuple[UUID | None, UUID | None]:
        """Return the exclusive bounds of these days' IDs; None is open."""
        since, until = (self.used_parameters.get(name) for name in self.form_class.base_fields)
        return since and UUID(int=_first_id(since).int - 1), until and _first_id(until + DAY)

    def condition(self) -> Q:
        low, high = self.bounds
        return (Q(pk__gt=low) if low else Q()) & (Q(pk__lt=high) if high else Q())

    def words(self) -> str:
        return _span(*(day and day_text(day) for day in map(self.used_parameters.get, self.form_class.base_fields)))


class AmountForm(forms.Form):
    least = forms.CharField(required=False, label=pgettext_lazy("span", "From"), max_length=30)
    most = forms.CharField(required=False, label=pgettext_lazy("span", "To"), max_length=30)
    currency = forms.ChoiceField(
        choices=[(code, code) for code in sorted(KNOWN_CURRENCIES)],
        required=False,
        initial=DEFAULT_CURRENCY,
        widget=LongSelect,
        label=_("Currency"),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        currency = cleaned.get("currency") or DEFAULT_CURRENCY
        for name in ("least", "most"):
            if cleaned.get(name):
                cleaned[name] = self._amount(name, cleaned[name], currency)
        return cleaned | {"currency": currency}

    def _amount(self, name: str, text: str, currency: str) -> int | None:
        try:
            return parse_amount(text, currency)
        except ValueError:
            self.add_error(name, ValidationError(_("Write an amount such as 1,234.50."), "invalid"))
            return None


class ByAmount(FormFilter):
    """A filter between two amounts of one currency."""

    title = _("amount")
    parameter_name = "least"
    form_class = AmountForm

    def condition(self) -> Q:
        used = self.used_parameters
        least = Q(amount__gte=used["least"]) if "least" in used else Q()
        return Q(currency=used["currency"]) & least & (Q(amount__lte=used["most"]) if "most" in used else Q())

    def words(self) -> str:
        currency = self.used_parameters["currency"]
        ends = (self.used_parameters.get(name) for name in ("least", "most"))
        return f"{_span(*(end and plain_amount(end, currency) for end in ends))} {currency}".strip()


def _span(first: str | None, last: str | None) -> str:
    if first and last:
        return first if first == last else gettext("{first} to {last}").format(first=first, last=last)
    return (
        gettext("from {first}").format(first=first)
        if first
        else gettext("up to {last}").format(last=last)
        if last
        else ""
    )


def _first_id(day: date) -> UUID:
    return first_id(timezone.make_aware(datetime.combine(day, time())))
