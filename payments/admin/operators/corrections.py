"""Corrections: outcomes that operators found out, and their approval."""

from django.contrib import admin, messages
from django.contrib.auth.models import User

from payments.admin.framework.base import by_mode_of
from payments.admin.framework.decisions import DecidedByAnother, Decision, Message
from payments.admin.framework.formats import chip, column, link, money, short_id
from payments.admin.framework.object_actions import Facts
from payments.admin.moments import moment_text
from payments.domain.operators import corrections
from payments.domain.operators.summary import proposed_outcome
from payments.ids import public_id
from payments.models import Attempt, Charge, Correction

State = Correction.State
DECISIONS = (
    Decision("approve", "Approve and record", "payments.approve_correction", corrections.approve),
    Decision("reject", "Reject", "payments.approve_correction", corrections.reject),
    Decision("withdraw", "Withdraw", "payments.propose_correction", corrections.withdraw, by_proposer=True),
)
MESSAGES = {
    State.APPROVED: (messages.SUCCESS, "Approved and recorded."),
    State.REJECTED: (messages.SUCCESS, "Rejected. The outcome is still unknown."),
    State.WITHDRAWN: (messages.SUCCESS, "Withdrawn. The outcome is still unknown."),
    State.OVERTAKEN: (messages.WARNING, "The provider's own answer came first, and nothing was changed."),
}


def _charge_id(correction: Correction) -> str:
    return public_id("ch", correction.attempt.charge_id)


@admin.register(Correction)
class CorrectionAdmin(DecidedByAnother):
    """Corrections: those with the permission decide the proposals of others; nobody edits one."""

    merchant_lookup = "attempt__charge__merchant"
    list_display = (
        "created",
        "shown_state",
        "shown_outcome",
        "kind",
        "shown_amount",
        "proposed_by",
        "decided_by",
        "decided",
        "charge_link",
    )
    decisions = DECISIONS
    list_filter = ("state", by_mode_of("attempt__charge"), "created_at")
    list_select_related = ("attempt__charge", "proposed_by", "decided_by")
    search_fields = ("evidence", "note", "provider_ref")
    uuid_lookups = {
        "": ("pk",),
        "attempt": ("attempt_id",),
        "ch": ("attempt__charge_id",),
        "re": ("attempt__refund_id",),
        "src": ("attempt__charge__source_id",),
        "mer": ("attempt__charge__merchant_id",),
    }
    object_lookups = ("attempt__charge_id", "attempt__refund_id")
    last4_lookups = ("attempt__charge__source__card__last4",)
    fieldsets = (
        (None, {"fields": ("shown_state", "attempt_link", "kind", "shown_amount", "charge_link")}),
        ("Proposed", {"fields": ("shown_outcome", "evidence", "proposed_by", "created")}),
        ("Decided", {"fields": ("note", "decided_by", "decided", "updated")}),
    )
    shown_state = column("State", lambda correction: chip(correction.state))
    shown_outcome = column("Outcome", proposed_outcome)
    kind = column("Of", lambda correction: correction.attempt.kind)
    shown_amount = column(
        "Amount", lambda correction: money(correction.attempt.amount, correction.attempt.charge.currency)
    )
    attempt_link = column(
        "Attempt",
        lambda correction: link(Attempt, correction.attempt_id, correction.attempt.reference),
        in_list=lambda correction: link(Attempt, correction.attempt_id, short_id(correction.attempt.reference)),
    )
    charge_link = column(
        "Charge",
        lambda correction: link(Charge, correction.attempt.charge_id, _charge_id(correction)),
        in_list=lambda correction: link(Charge, correction.attempt.charge_id, short_id(_charge_id(correction))),
    )

    def question(self, row: Correction) -> str:
        return f"{row.attempt}: {proposed_outcome(row)}?"

    def facts_of(self, row: Correction) -> Facts:
        attempt = row.attempt
        yield "Asked", f"{attempt.kind}, {money(attempt.amount, attempt.charge.currency)}"
        yield "Our reference", link(Attempt, attempt.pk, attempt.reference)
        yield "Charge", link(Charge, attempt.charge_id, public_id("ch", attempt.charge_id))
        yield "Provider", attempt.provider
        yield "Proposed outcome", proposed_outcome(row)
        yield "Evidence", row.evidence
        yield "Proposed by", f"{row.proposed_by}, {moment_text(row.created_at)}"

    def carry_out(self, row: Correction, decision: Decision, operator: User, note: str) -> Message:
        decision.decide(row, operator, note)
        row.refresh_from_db()
        return MESSAGES[State(row.state)]
