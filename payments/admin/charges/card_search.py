"""Search for charges by card number: the number becomes a fingerprint and is never stored."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from payments.admin.framework.object_actions import form_page
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.ids import parse_id, public_id
from payments.models import Card
from payments.sensitive_data.luhn import luhn_valid
from payments.vault.fingerprints import card_fingerprint

CARD_NUMBER_DIGITS = 16
MOST_COUNTED = 1_000


class HiddenNumberInput(forms.TextInput):
    """An input that never shows what was typed and asks browsers not to remember it."""

    def __init__(self) -> None:
        super().__init__({"autocomplete": "off", "inputmode": "numeric", "class": "vTextField"})

    def format_value(self, value: Any) -> str:
        return ""


class CardNumberForm(forms.Form):
    number = forms.CharField(label="Card number", max_length=30, widget=HiddenNumberInput)

    @sensitive_variables()
    def clean_number(self) -> bytes:
        """Return the number's fingerprint, which alone leaves the form."""
        number = self.cleaned_data["number"].translate({ord(" "): None, ord("-"): None})
        digits_only = number.isascii() and number.isdigit()
        if not digits_only or len(number) != CARD_NUMBER_DIGITS or not luhn_valid(number):
            raise forms.ValidationError("This is not a card number.", "invalid")
        return card_fingerprint(number)


class ByCard(admin.SimpleListFilter):
    """A filter by the card number of one card, which the address names by the card's ID."""

    title = "card number"
    parameter_name = "card"

    def __init__(self, request: HttpRequest, params: Any, model: type[Model], model_admin: admin.ModelAdmin) -> None:
        self.card: Card | None = None
        super().__init__(request, params, model, model_admin)

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        value = self.value()
        if value is None:
            return []
        seen = model_admin.get_queryset(request).filter(source__card=parse_id("card", value) or UUID(int=0))
        self.card = Card.objects.filter(source__charges__in=seen).first()
        return [(value, f"that of {self.card}" if self.card else "unknown")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        return queryset.filter(source__card__fingerprint=self.card.fingerprint) if self.card else queryset.none()


class CardSearch(admin.ModelAdmin):
    """The form, for the ModelAdmin of charges."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.search_by_card)
        return [path("by-card/", view, name="payments_charge_by_card"), *super().get_urls()]

    @method_decorator(sensitive_post_parameters("number"))
    def search_by_card(self, request: HttpRequest) -> HttpResponse:
        """Ask for the number, record the search, and redirect to the charges on it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = CardNumberForm(request.POST or None)
        if not form.is_valid():
            facts = [("What happens with it", "The number is not kept. It finds charges by its fingerprint.")]
            return form_page(request, self, "Charges on a card number", facts, form, [("search", "Search")])
        charges = self.get_queryset(request).filter(source__card__fingerprint=form.cleaned_data["number"])
        audit_log.record(Action.SEARCHED, detail=f"by a card number, charges found: {_count(charges)}")
        charge = charges.select_related("source__card").order_by("-pk").first()
        if charge is None:
            self.message_user(request, "There is no charge on this card number.", messages.WARNING)
            return redirect("admin:payments_charge_by_card")
        handle = public_id("card", charge.source.card.pk)
        return redirect(f"{reverse('admin:payments_charge_changelist')}?card={handle}")


def _count(charges: QuerySet[Any]) -> str:
    """Return the number of charges, counted up to a bound."""
    count = charges.order_by()[: MOST_COUNTED + 1].count()
    return f"more than {MOST_COUNTED}" if count > MOST_COUNTED else str(count)
