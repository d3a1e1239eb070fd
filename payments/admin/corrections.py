"""What operators found out about unknown outcomes, and what a second person does about it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.acting import Act, Facts, form_page, operator_of
from payments.admin.base import Conditions, LookOnlyAdmin
from payments.admin.formats import link, moment_column, money, utc
from payments.domain import audit, corrections
from payments.domain.audit import Action
from payments.domain.second_person import Refused
from payments.ids import public_id
from payments.models import Attempt, Charge, Correction
from payments.models.correction import NOTE_MAX_LENGTH, free_of_secrets
from payments.redaction import redact

State = Correction.State
CHOICES = [("approve", "Approve and record"), ("reject", "Reject"), ("withdraw", "Withdraw")]
OF_OTHERS, OF_ONES_OWN = CHOICES[:2], CHOICES[2:]
DECIDE: dict[str, Callable[..., object]] = {
    "approve": corrections.approve,
    "reject": corrections.reject,
    "withdraw": lambda correction, operator, _: corrections.withdraw(correction, operator),
}
PERMISSIONS = {
    "approve": "payments.approve_correction",
    "reject": "payments.approve_correction",
    "withdraw": "payments.propose_correction",
}
TOLD = {
    State.APPROVED: (messages.SUCCESS, "Approved and recorded."),
    State.REJECTED: (messages.SUCCESS, "Rejected. The outcome is still unknown."),
    State.WITHDRAWN: (messages.SUCCESS, "Withdrawn. The outcome is still unknown."),
    State.OVERTAKEN: (messages.WARNING, "The provider's own answer came first, and nothing was changed."),
}


class SecretsHidden(forms.Textarea):
    """Shows a refused text again without what it was refused for."""

    def format_value(self, value: Any) -> str:
        return redact(value or "")


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=CHOICES, widget=forms.HiddenInput)
    note = forms.CharField(
        label="Why",
        max_length=NOTE_MAX_LENGTH,
        validators=[free_of_secrets],
        widget=SecretsHidden(attrs={"rows": 3, "class": "vLargeTextField"}),
        help_text="What you checked yourself. It is kept.",
    )


def chip(state: str) -> SafeString:
    """The state of a correction, as a mark."""
    return format_html('<span class="chip chip-{}">{}</span>', state, state)


def said(correction: Correction) -> str:
    """The proposed outcome in a few words."""
    proof = correction.provider_ref or correction.decline_code
    outcome = correction.outcome.replace("_", " ")
    return f"{outcome} ({proof})" if proof else outcome


class ByModeOfAttempt(Conditions):
    title = "mode"
    parameter_name = "mode"
    conditions = {
        "live": ("Live", Q(attempt__charge__livemode=True)),
        "test": ("Test", Q(attempt__charge__livemode=False)),
    }


@admin.register(Correction)
class CorrectionAdmin(LookOnlyAdmin):
    """Whoever may approve corrections decides those of others; nobody edits one."""

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
        "attempt_link",
    )
    list_filter = ("state", ByModeOfAttempt, "created_at")
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
    created = moment_column("created_at")
    decided = moment_column("decided_at")
    updated = moment_column("updated_at")

    class Media:
        css = {"all": ["payments/admin.css"]}

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide)
        return [path("<uuid:pk>/decide/", view, name="payments_correction_decide"), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        context["acts"] = acts_on(request, kwargs["obj"])
        return super().render_change_form(request, context, *args, **kwargs)

    def decide(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Asks for the note, then approves, rejects or withdraws."""
        choices = self.choices(request)
        correction = get_object_or_404(self.get_queryset(request), pk=pk)
        form = DecisionForm(request.POST or None)
        if not form.is_valid():
            title = f"{correction.attempt}: {said(correction)}?"
            buttons = [choice for choice in choices if choice in _fitting(request, correction)]
            return form_page(request, self, title, facts_of(correction), form, buttons)
        decision, note = form.cleaned_data["decision"], form.cleaned_data["note"]
        if decision not in dict(choices):
            raise PermissionDenied
        self._decide(request, correction, decision, note)
        return redirect("admin:payments_correction_change", pk)

    def choices(self, request: HttpRequest) -> list[tuple[str, str]]:
        """What this operator may do about corrections. Raises PermissionDenied where that is nothing."""
        may = [choice for choice in CHOICES if operator_of(request).has_perm(PERMISSIONS[choice[0]])]
        if not may:
            raise PermissionDenied
        return may

    def _decide(self, request: HttpRequest, correction: Correction, decision: str, note: str) -> None:
        try:
            with transaction.atomic():
                DECIDE[decision](correction, operator_of(request), note)
                correction.refresh_from_db()
                level, told = TOLD[State(correction.state)]
                audit.record(Action(correction.state), correction, detail=said(correction), reason=note)
        except Refused as refusal:
            level, told = messages.ERROR, str(refusal)
        self.message_user(request, told, level)

    @admin.display(description="State")
    def shown_state(self, correction: Correction) -> SafeString:
        return chip(correction.state)

    @admin.display(description="Outcome")
    def shown_outcome(self, correction: Correction) -> str:
        return said(correction)

    @admin.display(description="Of")
    def kind(self, correction: Correction) -> str:
        return correction.attempt.kind

    @admin.display(description="Amount")
    def shown_amount(self, correction: Correction) -> str:
        return money(correction.attempt.amount, correction.attempt.charge.currency)

    @admin.display(description="Attempt")
    def attempt_link(self, correction: Correction) -> SafeString | str:
        return link(Attempt, correction.attempt_id, correction.attempt.reference)

    @admin.display(description="Charge")
    def charge_link(self, correction: Correction) -> SafeString | str:
        charge_id = correction.attempt.charge_id
        return link(Charge, charge_id, public_id("ch", charge_id))


def acts_on(request: HttpRequest, correction: Correction) -> list[Act]:
    """What this operator may do about `correction` while it is open."""
    may = [choice for choice in _fitting(request, correction) if operator_of(request).has_perm(PERMISSIONS[choice[0]])]
    if correction.state != State.PROPOSED or not may:
        return []
    label = "Withdraw the proposal" if may == OF_ONES_OWN else "Decide the proposal"
    return [Act(label, reverse("admin:payments_correction_decide", args=[correction.pk]))]


def facts_of(correction: Correction) -> Facts:
    """What a second person must know."""
    attempt = correction.attempt
    yield "Asked", f"{attempt.kind}, {money(attempt.amount, attempt.charge.currency)}"
    yield "Our reference", link(Attempt, attempt.pk, attempt.reference)
    yield "Charge", link(Charge, attempt.charge_id, public_id("ch", attempt.charge_id))
    yield "Provider", attempt.provider
    yield "Proposed outcome", said(correction)
    yield "Evidence", correction.evidence
    yield "Proposed by", f"{correction.proposed_by}, {utc(correction.created_at)} UTC"


def _fitting(request: HttpRequest, correction: Correction) -> list[tuple[str, str]]:
    return OF_ONES_OWN if correction.proposed_by_id == operator_of(request).pk else OF_OTHERS
