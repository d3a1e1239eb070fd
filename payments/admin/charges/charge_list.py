"""The list of charges: its columns, its filters, the indexes that find its pages, and its search by card number."""

from operator import attrgetter
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from payments.admin.charges.status import HOLDS, ByState, index_path_for
from payments.admin.columns import payer_column, what_for_column
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by_type_of
from payments.admin.framework.form_filters import ByAmount, ByDays, ByMerchant
from payments.admin.framework.formats import Cells, amount_cells, chips, column, moment_column, money, source_label
from payments.admin.framework.id_search import ANY_ENTRY, EntrySearch
from payments.admin.framework.index_scan import IndexPath
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.pagination import KeysetList
from payments.admin.framework.reason_form import HiddenNumberInput
from payments.admin.shown_times import moment_cells
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action as Recorded
from payments.ids import parse_id, public_id
from payments.models import Attempt, Card, Charge
from payments.search import find
from payments.sensitive_data.card_ranges import CARD_NUMBER_DIGITS
from payments.sensitive_data.luhn import luhn_valid
from payments.vault.fingerprints import card_fingerprint

MOST_COUNTED = 1_000


class CardNumberForm(forms.Form):
    number = forms.CharField(label=_("Card number"), max_length=30, widget=HiddenNumberInput)

    @sensitive_variables()
    def clean_number(self) -> bytes:
        """Return the number's fingerprint, which alone leaves the form."""
        number = self.cleaned_data["number"].translate({ord(" "): None, ord("-"): None})
        digits_only = number.isascii() and number.isdigit()
        if not digits_only or len(number) != CARD_NUMBER_DIGITS or not luhn_valid(number):
            raise forms.ValidationError(_("This is not a card number."), "invalid")
        return card_fingerprint(number)


class ByCard(admin.SimpleListFilter):
    """A filter by the card number of one card, which the address names by the card's ID."""

    title = _("card number")
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
        return [(value, gettext("that of {card}").format(card=self.card) if self.card else gettext("unknown"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        return queryset.filter(source__card__fingerprint=self.card.fingerprint) if self.card else queryset.none()


AMOUNTS = ("amount", "amount_captured", "amount_refunded", "fee")


def _card(charge: Charge, name: str) -> object:
    return getattr(getattr(charge.source, "card", None), name, None)


CHARGE_CELLS: Cells = {
    "id": lambda charge: public_id("ch", charge.pk),
    **moment_cells("created_at"),
    "merchant": lambda charge: public_id("mer", charge.merchant_id),
    "merchant_title": attrgetter("merchant.title"),
    "mode": lambda charge: "live" if charge.livemode else "test",
    "status": attrgetter("status"),
    "held": lambda charge: "yes" if charge.authorized else "no",
    "currency": attrgetter("currency"),
    **{head: cell for name in AMOUNTS for head, cell in amount_cells(name).items()},
    "type": attrgetter("source.type"),
    "card_brand": lambda charge: _card(charge, "brand"),
    "card_last4": lambda charge: _card(charge, "last4"),
    "description": attrgetter("description"),
    "statement_descriptor": attrgetter("statement_descriptor"),
    "failure_code": lambda charge: (charge.failure_data or {}).get("code"),
    **moment_cells("hold_expires_at"),
}


class ChargeSearch(EntrySearch):
    """The search of the list of charges, also by a provider's reference."""

    def rows(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any] | None:
        # The reference may be recorded without an event, while the payer is still to act.
        # `exclude` lets PostgreSQL use the index, which leaves out empty ones.
        referred = Attempt.objects.filter(provider_ref=term).exclude(provider_ref="")
        if term and referred.exists():
            return queryset.filter(pk__in=referred.values("charge_id"))
        return super().rows(request, queryset, term)


class NoCharge(Exception):
    """No charge that the person sees is on the card number."""


class SearchByCard(Action):
    """Among the charges that the person sees."""

    name, label, button = "search", _("Search by card number"), _("Search")
    form = CardNumberForm
    refusals = (NoCharge,)
    is_new, new_name = True, "by_card"
    for_merchants = True

    def is_allowed(self, page: Any, request: HttpRequest) -> bool:
        return bool(page.has_view_permission(request))

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        return page.get_queryset(request)

    def question(self, row: Any) -> str:
        return gettext("Charges on a card number")

    def facts(self, row: Any) -> Facts:
        yield _("What happens with it"), _("The number is not kept. It finds charges by its fingerprint.")

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        """Record the search, and redirect to the charges."""
        charges = row.filter(source__card__fingerprint=cleaned["number"])
        count = charges.order_by()[: MOST_COUNTED + 1].count()
        found = f"more than {MOST_COUNTED}" if count > MOST_COUNTED else count
        audit_log.record(Recorded.SEARCHED, detail=f"by a card number, charges found: {found}")
        charge = charges.select_related("source__card").order_by("-pk").first()
        if charge is None:
            raise NoCharge(_("There is no charge on this card number."))
        handle = public_id("card", charge.source.card.pk)
        return redirect(f"{reverse('admin:payments_charge_changelist')}?card={handle}")


class ChargeList(BaseAdmin):
    """The list of charges, and its search by a card number."""

    list_display = ("payer", "what_for", "paid_with", "how_much", "shown_state", "created")
    sum_of = ("amount", "currency")
    file_cells = CHARGE_CELLS
    list_filter = (ByState, ByMerchant, ByMode, by_type_of("source__type"), ByDays, ByAmount, ByCard)
    list_select_related = ("merchant", "source__card")
    search_fields = ("description",)
    search_help_text = ANY_ENTRY
    search = ChargeSearch(
        {
            "ch": "pk",
            "cs": "checkout_id",
            "src": "source_id",
            "card": "source__card__pk",
            "re": "refunds__pk",
            "mer": "merchant_id",
            "attempt": "attempts__pk",
        },
        objects="pk source_id refunds__pk",
        entries=find.charges,
    )
    payer = payer_column(lambda charge: charge)
    what_for = what_for_column(lambda charge: charge)
    paid_with = column(_("Paid with"), lambda charge: source_label(charge.source))
    how_much = column(_("Amount"), lambda charge: money(charge.amount, charge.currency), is_number=True)
    shown_state = column(_("State"), chips)
    hold_expires = moment_column("hold_expires_at", order="hold_expires_at")

    def shown_columns(self, request: HttpRequest) -> list[str]:
        are_held = request.GET.get(ByState.parameter_name) in HOLDS
        return [*super().shown_columns(request), *(["hold_expires"] if are_held else [])]

    def index_path(self, request: HttpRequest, changelist: KeysetList) -> IndexPath:
        chosen, order = chosen_in(changelist), changelist.order
        if changelist.query or "card" in chosen:
            return IndexPath(order=order)
        return index_path_for(chosen, limit_of(request), order)

    def skips_rows(self, changelist: KeysetList, path: IndexPath) -> bool:
        return "card" not in chosen_in(changelist) and super().skips_rows(changelist, path)


def chosen_in(changelist: ChangeList) -> dict[str, Any]:
    """Return the values of a list's filters by parameter."""
    return {name: value for spec in changelist.filter_specs for name, value in spec.used_parameters.items()}
