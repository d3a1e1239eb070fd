from django.contrib import admin
from django.db.models import Q
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString

from payments.admin.disputes.responses import AcceptDispute, AddEvidence, SubmitEvidence
from payments.admin.framework.base import ByMode, ReadOnlyAdmin, by
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    id_column,
    lines,
    link,
    money_column,
)
from payments.admin.framework.row_actions import RowActions
from payments.admin.moments import moment_cell, moment_text
from payments.models import Dispute, Event

SHOWN_EVENTS = 100
CHIPS: dict[str, str] = {
    Dispute.Status.WARNING: "warn",
    Dispute.Status.NEEDS_RESPONSE: "bad",
    Dispute.Status.UNDER_REVIEW: "warn",
    Dispute.Status.WON: "good",
    Dispute.Status.LOST: "bad",
}
ByStatus = by("status", **{status.value: (status.label, Q(status=status)) for status in Dispute.Status})


@admin.register(Dispute)
class DisputeAdmin(RowActions, ReadOnlyAdmin):
    row_actions = (AddEvidence(), SubmitEvidence(), AcceptDispute())
    merchant_lookup = "merchant"
    list_display = (
        "public_id",
        "created",
        "shown_amount",
        "shown_status",
        "evidence_due",
        "reason",
        "charge_link",
        "merchant",
        "mode",
    )
    list_filter = (ByStatus, ByMode, "created_at")
    sum_of = ("amount", "currency")
    list_select_related = ("merchant",)
    search_fields = ("=provider_ref", "=network_ref", "=network_code")
    uuid_lookups = {"dp": ("pk",), "ch": ("charge_id",), "src": ("charge__source_id",), "mer": ("merchant_id",)}
    object_lookups = ("pk", "charge_id")
    last4_lookups = ("charge__source__card__last4",)
    fieldsets = (
        (None, {"fields": ("public_id", "shown_status", "charge_link", "of_merchant", "mode")}),
        ("What is disputed", {"fields": ("shown_amount", "bank_has", "shown_fee")}),
        ("Why", {"fields": ("reason", "network_code", "evidence_due")}),
        ("Response", {"fields": ("response", "response_status", "responded", "refusal", "pieces")}),
        ("References", {"fields": ("provider_ref", "network_ref")}),
        ("Times", {"fields": ("created", "updated", "version")}),
        ("Events", {"fields": ("events",)}),
    )
    public_id = id_column("dp")
    shown_amount = money_column("amount")
    shown_fee = money_column("fee")
    evidence_due = column(
        "Evidence due", lambda dispute: moment_cell(dispute.evidence_due_at) if dispute.evidence_due_at else NOTHING
    )
    response_status = column(
        "Status of the response",
        lambda dispute: chip(dispute.get_response_state_display()) if dispute.response_state else NOTHING,
    )
    refusal = column("Why the provider does not have it", lambda dispute: dispute.response_why or NOTHING)
    responded = column(
        "Responded", lambda dispute: moment_cell(dispute.responded_at) if dispute.responded_at else NOTHING
    )
    bank_has = column("Taken by the payer's bank", lambda dispute: "yes" if dispute.withdrawn else "no")
    shown_status = column(
        "Status", lambda dispute: chip(dispute.get_status_display(), CHIPS.get(dispute.status, "quiet"))
    )

    @admin.display(description="Of the dispute")
    def events(self, dispute: Dispute) -> SafeString | str:
        found = Event.objects.filter(object_id=dispute.pk).defer("payload").order_by("-sequence")[:SHOWN_EVENTS]
        return lines(link(Event, event.id, f"{moment_text(event.created_at)} {event.type}") for event in found)

    @admin.display(description="Evidence")
    def pieces(self, dispute: Dispute) -> SafeString | str:
        return lines(
            f"{piece.type.replace('_', ' ')}: {piece.content_type}, {filesizeformat(piece.size)}"
            for piece in dispute.evidence.defer("sealed_content").order_by("id")
        )
