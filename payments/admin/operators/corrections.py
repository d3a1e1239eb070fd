"""Corrections: outcomes that operators found out, and their approval."""

from django.contrib import admin, messages

from payments.admin.framework.filters import by_mode_of, one_of
from payments.admin.framework.formats import column, link, money, short_id
from payments.admin.framework.id_search import OF_CHARGE, IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.moments import moment_text
from payments.admin.operators.decisions import Decide, DecidedByAnother
from payments.domain.approvals.kinds.corrections import proposed_outcome
from payments.models import Attempt, Charge, Correction

State = Correction.State
MESSAGES = {
    State.DONE: (messages.SUCCESS, "Approved and recorded."),
    State.REJECTED: (messages.SUCCESS, "Rejected. The outcome is still unknown."),
    State.WITHDRAWN: (messages.SUCCESS, "Withdrawn. The outcome is still unknown."),
    State.OVERTAKEN: (messages.WARNING, "The provider's own answer came first, and nothing was changed."),
}


@admin.register(Correction)
class CorrectionAdmin(DecidedByAnother):
    """Corrections: those with the permission decide the proposals of others; nobody edits one."""

    list_display = ("payer", "what", "proposed_by", "decided_by", "shown_amount", "shown_state", "created")
    file_columns = (
        *("created", "shown_state", "shown_outcome", "kind", "shown_amount"),
        *("proposed_by", "decided_by", "decided", "charge_link"),
    )
    row_actions = (Decide("payments.propose_correction", "Approve and record"),)
    messages = MESSAGES
    list_filter = (one_of("state", [State.PROPOSED, State.EXPIRED, *MESSAGES]), by_mode_of("charge"), "created_at")
    search_fields = ("reason", "note", "after__reference")
    search = IdSearch(
        {**OF_CHARGE, "": "pk", "attempt": "attempt_id", "re": "attempt__refund_id", "mer": "merchant_id"},
        objects="charge_id attempt__refund_id",
        last4="charge__source__card__last4",
    )
    fieldsets = (
        (None, {"fields": ("shown_state", "attempt_link", "kind", "shown_amount", "charge_link")}),
        ("Proposed", {"fields": ("shown_outcome", "evidence", "proposed_by", "created", "expires")}),
        ("Decided", {"fields": ("note", "decided_by", "decided", "updated")}),
    )
    shown_outcome = column("Outcome", proposed_outcome)
    kind = column("Of", lambda correction: correction.attempt.kind)
    evidence = column("Evidence", lambda correction: correction.reason)
    attempt_link = column(
        "Attempt",
        lambda correction: link(Attempt, correction.attempt_id, correction.attempt.reference),
        in_list=lambda correction: link(Attempt, correction.attempt_id, short_id(correction.attempt.reference)),
    )

    def question(self, row: Correction) -> str:
        return f"Record {row.attempt.kind} of {money(row.amount, row.currency)} as {proposed_outcome(row)}?"

    def facts_of(self, row: Correction) -> Facts:
        attempt = row.attempt
        yield "Asked", f"{attempt.kind}, {money(row.amount, row.currency)}"
        yield "Our reference", link(Attempt, attempt.pk, attempt.reference)
        yield "Charge", link(Charge, row.charge_id, row.charge)
        yield "Provider", attempt.provider
        yield "Proposed outcome", proposed_outcome(row)
        yield "Open until", moment_text(row.expires_at)

    def in_words(self, row: Correction) -> str:
        return f"{row.attempt.kind}, outcome: {proposed_outcome(row)}"
