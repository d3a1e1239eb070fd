"""The list of charges: its columns, its filters and the indexes that find its pages."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString

from payments.admin.charges.card_search import ByCard, CardSearch
from payments.admin.charges.search import ChargeSearch
from payments.admin.charges.status import ByState, index_path_for
from payments.admin.exports import MAY_EXPORT
from payments.admin.framework.base import ByMode, by_type_of
from payments.admin.framework.form_filters import ByAmount, ByDays, ByMerchant
from payments.admin.framework.formats import NOTHING, chips, money, source_label, two_lines, utc
from payments.admin.framework.index_scan import IndexPath
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import operator_of
from payments.admin.framework.pagination import KeysetPaging
from payments.models import Charge


class ChargeList(ChargeSearch, KeysetPaging, CardSearch):
    """The list, for the ModelAdmin of charges."""

    change_list_template = "admin/payments/charge_list.html"

    list_display = ("which", "how_much", "shown_state", "paid_with", "what_for")
    list_filter = (ByState, ByMerchant, ByMode, by_type_of("source__type"), ByDays, ByAmount, ByCard)
    list_select_related = ("merchant", "source__card")
    uuid_lookups = {
        "ch": ("pk",),
        "src": ("source_id",),
        "card": ("source__card__pk",),
        "re": ("refunds__pk",),
        "mer": ("merchant_id",),
        "attempt": ("attempts__pk",),
    }
    object_lookups = ("pk", "source_id", "refunds__pk")
    last4_lookups = ("source__card__last4",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Add the buttons above the list."""
        narrowed = request.GET.copy()
        narrowed.pop(PAGE_VAR, None)
        acts = {
            "card_search": reverse("admin:payments_charge_by_card"),
            "may_export": operator_of(request).has_perm(MAY_EXPORT),
            "query": narrowed.urlencode(),
        }
        return super().changelist_view(request, acts | (extra_context or {}))

    def index_path(self, request: HttpRequest, changelist: ChangeList) -> IndexPath:
        chosen = chosen_in(changelist)
        if changelist.query or "card" in chosen:
            return IndexPath()
        return index_path_for(chosen, limit_of(request))

    def skips_rows(self, changelist: ChangeList, path: IndexPath) -> bool:
        return "card" not in chosen_in(changelist) and super().skips_rows(changelist, path)

    @admin.display(description="Charge, created (UTC)")
    def which(self, charge: Charge) -> SafeString:
        return two_lines(charge, utc(charge.created_at))

    @admin.display(description="Amount")
    def how_much(self, charge: Charge) -> SafeString:
        refunded = f"{money(charge.amount_refunded, charge.currency)} refunded" if charge.amount_refunded else ""
        return two_lines(money(charge.amount, charge.currency), refunded)

    @admin.display(description="For, at")
    def what_for(self, charge: Charge) -> SafeString:
        return two_lines(charge.description or NOTHING, charge.merchant)

    @admin.display(description="State")
    def shown_state(self, charge: Charge) -> SafeString:
        return chips(charge)

    @admin.display(description="Paid with, mode")
    def paid_with(self, charge: Charge) -> SafeString:
        return two_lines(source_label(charge.source), "live" if charge.livemode else "test")


def chosen_in(changelist: ChangeList) -> dict[str, Any]:
    """Return the values of a list's filters by parameter."""
    return {name: value for spec in changelist.filter_specs for name, value in spec.used_parameters.items()}
