from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.cases.panel import CasePanel
from payments.admin.charges.actions import on_charges
from payments.admin.charges.charge_list import ChargeList
from payments.admin.columns import WITH_PAYER, payer_column, state_column, what_for_column
from payments.admin.contacts import People
from payments.admin.framework.base import BaseAdmin, ReadOnlyInline
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import (
    NOTHING,
    chips,
    column,
    events_column,
    json_column,
    link,
    money,
    money_column,
    of_payer,
    short_id,
    shown_rate,
    source_label,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import Part
from payments.admin.operators.requests import WaitingRequests
from payments.admin.operators.words import refund_reason
from payments.admin.shown_times import moment_brief
from payments.admin.timeline.page import FOR_OPERATORS, timeline_context
from payments.ledger.fees import Rate
from payments.models import Attempt, Charge, Merchant, Refund, Source


class AttemptsOfCharge(ReadOnlyInline):
    model = Attempt
    fields = ("kind", "shown_amount", "state", "outcome", "provider", "created")
    ordering = ("-pk",)

    shown_amount = money_column("amount", "charge")


@admin.register(Charge)
class ChargeAdmin(ChargeList):
    """A charge: what to say to its payer, its money and people, and what happened; the row's fields are folded."""

    for_merchants = (
        "payer what_for paid_with how_much shown_state id created_at_local status held currency amount amount_decimal "
        "amount_captured amount_captured_decimal amount_refunded amount_refunded_decimal fee fee_decimal type "
        "card_brand card_last4 description statement_descriptor failure_code hold_expires_at hold_expires_at_local "
        "shown_amount shown_captured refunded rate shown_fee authorized captured hold_expires settle_due settled "
        "operation reversed_late source_link checkout_link require_auth initiator schedule shown_action "
        "action_expires redirect_url shown_failure shown_metadata money since least card"
    )
    records_views = True
    row_actions = on_charges
    parts: Sequence[Part] = (WaitingRequests(), People(lambda charge: charge.source), CasePanel())
    contents = FOR_OPERATORS
    fieldsets = (
        (
            _("All fields"),
            {
                "fields": (
                    *("public_id", "shown_state", "of_merchant", "mode", "description", "statement_descriptor"),
                    *("shown_amount", "shown_captured", "refunded", "rate", "shown_fee", "status", "authorized"),
                    *("captured", "hold_expires", "settle_due", "settled", "operation", "reversed_late", "version"),
                    *("source_link", "checkout_link", "require_auth", "initiator", "schedule", "shown_action"),
                    *("action_expires", "redirect_url", "shown_failure", "shown_metadata", "created", "updated"),
                ),
                "classes": ("collapse",),
            },
        ),
    )
    shown_captured = money_column("amount_captured")
    shown_failure = json_column("failure_data")
    refunded = column(_("Refunded"), lambda charge: money(charge.amount_refunded or None, charge.currency))
    rate = column(
        _("Rate"), lambda charge: shown_rate(Rate(charge.fee_basis_points, charge.fee_fixed), charge.currency)
    )
    source_link = column(
        _("Source"), lambda charge: link(Source, charge.source_id, f"{charge.source} ({source_label(charge.source)})")
    )

    class Media:
        css = {"all": ["payments/timeline.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("merchant", "source__card")

    def headline(self, row: Charge) -> str:
        about = gettext("for {about}").format(about=row.description) if row.description else ""
        parts = (money(row.amount, row.currency), of_payer(row, gettext("from {payer}")), about)
        return " ".join(filter(None, parts))

    def marks(self, row: Charge) -> list[Any]:
        facts = {"paid": self.paid(row), "source": source_label(row.source), "time": moment_brief(row.created_at)}
        return [
            chips(row),
            format_html("<span>{}</span>", format_html(gettext("{paid} by {source}, {time}"), **facts)),
            short_id(str(row)),
        ]

    def paid(self, row: Charge) -> str:
        """Return whether a charge was paid, and to whom."""
        return format_html(
            "{} {}", _("Paid to") if row.captured else _("For"), link(Merchant, row.merchant_id, row.merchant)
        )

    def beside_row(self, request: HttpRequest, row: Charge) -> dict[str, Any]:
        shown = timeline_context(request, row, self.get_queryset(request).select_related(None), self.contents)
        return super().beside_row(request, row) | {"timeline": shown}


HEADLINES: dict[str, Any] = {
    Refund.Status.PENDING: _("{amount} to be refunded"),
    Refund.Status.SUCCEEDED: _("{amount} refunded"),
    Refund.Status.FAILED: _("{amount} not refunded"),
}


@admin.register(Refund)
class RefundAdmin(BaseAdmin):
    for_merchants = "payer what_for why shown_amount shown_status status reason order"
    parts = (People(lambda refund: refund.charge.source),)
    list_display = ("payer", "what_for", "why", "shown_amount", "shown_status", "created", "mode")
    file_columns = ("public_id", "created", "shown_amount", "status", "reason", "charge_link", "merchant", "mode")
    list_filter = ("status", ByMode, "created_at")
    sum_of = ("amount", "currency")
    list_select_related = ("merchant", *WITH_PAYER)
    search_fields = ("reason",)
    search = IdSearch(
        {"re": "pk", "ch": "charge_id", "src": "charge__source_id", "mer": "merchant_id", "attempt": "attempts__pk"},
        objects="pk charge_id",
        last4="charge__source__card__last4",
    )
    fieldsets = (
        (None, {"fields": ("order", "why", "shown_amount", "shown_status", "charge_link", "created")}),
        (_("References"), {"fields": ("public_id", "of_merchant", "mode")}),
        (_("Times"), {"fields": ("updated", "version")}),
        (_("Events"), {"fields": ("events",)}),
    )
    inlines: ClassVar[Any] = (AttemptsOfCharge,)
    payer = payer_column()
    what_for = what_for_column()
    shown_status = state_column("status", {"pending": "warn", "succeeded": "good", "failed": "bad"})
    events = events_column(_("Of the refund"))
    order = column(_("Order"), lambda refund: refund.charge.description or NOTHING)
    why = column(_("Reason"), lambda refund: refund_reason(refund.reason))

    def headline(self, row: Refund) -> str:
        amount = HEADLINES[row.status].format(amount=money(row.amount, row.currency))
        return f"{amount} {of_payer(row.charge, gettext('to {payer}'))}".strip()
