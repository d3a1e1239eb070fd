from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.columns import WITH_PAYER, payer_column, what_for_column
from payments.admin.contacts import People
from payments.admin.disputes.answer import WhatHappened, WhatIsNeeded, described
from payments.admin.disputes.responses import ANSWERED, AcceptDispute, AddEvidence, SubmitEvidence
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import NOTHING, chip, column, events_column, lines, money, of_payer, two_lines
from payments.admin.framework.id_search import IdSearch
from payments.admin.shown_times import moment_brief, moment_cell, moment_in_list
from payments.domain.disputes.stages import ASKS_FOR_EVIDENCE
from payments.models import Dispute

CHIPS: dict[str, str] = {
    Dispute.Status.WARNING: "warn",
    Dispute.Status.NEEDS_RESPONSE: "bad",
    Dispute.Status.UNDER_REVIEW: "warn",
    Dispute.Status.WON: "good",
    Dispute.Status.LOST: "bad",
}
ByStatus = by("status", **{status.value: (status.label, Q(status=status)) for status in Dispute.Status})


def _reason(dispute: Dispute) -> str:
    return capfirst(gettext(dispute.reason.replace("_", " ")))


def _standing(dispute: Dispute) -> tuple[str, str]:
    """Return the status and its mark; what was answered is under review, before the provider says so."""
    is_answered = dispute.status in ASKS_FOR_EVIDENCE and dispute.response_state in ANSWERED
    status = Dispute.Status.UNDER_REVIEW if is_answered else Dispute.Status(dispute.status)
    return str(status.label), CHIPS.get(status, "quiet")


@admin.register(Dispute)
class DisputeAdmin(BaseAdmin):
    for_merchants = (
        "payer what_for why shown_amount shown_status evidence_due reason pieces response response_status responded "
        "refusal order bank_has shown_fee network_ref network_code status"
    )
    row_actions = (AddEvidence(), SubmitEvidence(), AcceptDispute())
    parts = (WhatIsNeeded(), WhatHappened(), People(lambda dispute: dispute.charge.source))
    list_display = ("payer", "what_for", "why", "shown_amount", "shown_status", "evidence_due", "created", "mode")
    file_columns = (
        *("public_id", "created", "shown_amount", "shown_status", "evidence_due"),
        *("reason", "charge_link", "merchant", "mode"),
    )
    list_filter = (ByStatus, ByMode, "created_at")
    sum_of = ("amount", "currency")
    list_select_related = ("merchant", *WITH_PAYER)
    search_fields = ("=provider_ref", "=network_ref", "=network_code")
    search = IdSearch(
        {"dp": "pk", "ch": "charge_id", "src": "charge__source_id", "mer": "merchant_id"},
        objects="pk charge_id",
        last4="charge__source__card__last4",
    )
    fieldsets = (
        (_("Evidence and response"), {"fields": ("pieces", "response", "response_status", "responded", "refusal")}),
        (
            _("What it is about"),
            {
                "fields": (
                    "order",
                    "why",
                    "shown_amount",
                    "bank_has",
                    "shown_fee",
                    "charge_link",
                    "mode",
                    "shown_status",
                )
            },
        ),
        (_("References"), {"fields": ("public_id", "of_merchant", "provider_ref", "network_ref", "network_code")}),
        (_("Times"), {"fields": ("evidence_due", "created", "updated", "version")}),
        (_("Events"), {"fields": ("events",)}),
    )
    payer = payer_column()
    what_for = what_for_column()
    shown_fee = column(_("Fee"), lambda dispute: money(dispute.fee or None, dispute.charge.currency))
    events = events_column(_("Of the dispute"))
    evidence_due = column(
        _("Evidence due"),
        lambda dispute: moment_cell(dispute.evidence_due_at),
        in_list=lambda dispute: format_html(gettext("by {time}"), time=moment_in_list(dispute.evidence_due_at)),
    )
    response_status = column(
        _("Status of the response"),
        lambda dispute: chip(dispute.get_response_state_display()) if dispute.response_state else NOTHING,
    )
    refusal = column(_("Why the provider does not have it"), lambda dispute: dispute.response_why or NOTHING)
    bank_has = column(
        _("Taken by the payer's bank"),
        lambda dispute: money(dispute.amount_withdrawn, dispute.charge.currency) if dispute.withdrawn else _("no"),
    )
    shown_status = column(_("Status"), lambda dispute: chip(*_standing(dispute)))
    order = column(_("Order"), lambda dispute: dispute.charge.description or NOTHING)
    why = column(
        _("Reason"),
        lambda dispute: two_lines(_reason(dispute), dispute.network_code),
        in_list=_reason,
    )

    def marks(self, row: Dispute) -> list[Any]:
        chip_of_state, *rest = super().marks(row)
        is_open = row.status in ASKS_FOR_EVIDENCE and row.response_state not in ANSWERED
        due = row.evidence_due_at if is_open else None
        if due is None:
            return [chip_of_state, *rest]
        answer = format_html(gettext("Answer by {time}"), time=moment_brief(due))
        return [chip_of_state, format_html("<strong>{}</strong>", answer), *rest]

    def headline(self, row: Dispute) -> str:
        amount = gettext("{amount} disputed").format(amount=money(row.amount, row.currency))
        why = gettext("as {reason}").format(reason=gettext(row.reason.replace("_", " "))) if row.reason else ""
        return " ".join(filter(None, (amount, why, of_payer(row.charge, gettext("by {payer}")))))

    @admin.display(description=_("Evidence"))
    def pieces(self, dispute: Dispute) -> SafeString | str:
        return lines(
            f"{gettext(piece.type.replace('_', ' '))}: {described(piece)}"
            for piece in dispute.evidence.defer("sealed_content").order_by("id")
        )
