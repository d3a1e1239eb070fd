"""Corrections: outcomes that operators found out, and their approval."""

from django.contrib import admin, messages
from django.utils.text import capfirst

from payments.admin.framework.filters import by_mode_of, one_of
from payments.admin.framework.formats import column, link, provider_title, short_id
from payments.admin.framework.id_search import OF_CHARGE, IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.operators.decisions import Decide, DecidedByAnother
from payments.admin.operators.words import asked_of
from payments.admin.shown_times import moment_text
from payments.domain.approvals.kinds.corrections import proposed_outcome
from payments.models import Attempt, Correction

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
    row_actions = (Decide(Correction.MAY_PROPOSE, "Approve and record"),)
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
        return f"Record the {self.in_words(row)}?"

    def facts_of(self, row: Correction) -> Facts:
        attempt = row.attempt
        yield "Asked", capfirst(asked_of(attempt, row.currency))
        yield "Provider", provider_title(attempt.provider)
        yield "Our reference there", link(Attempt, attempt.pk, attempt.reference)
        yield "Proposed outcome", proposed_outcome(row)
        yield "Open until", moment_text(row.expires_at)

    def in_words(self, row: Correction) -> str:
        return f"{asked_of(row.attempt, row.currency)} as {row.after['outcome'].replace('_', ' ')}"
