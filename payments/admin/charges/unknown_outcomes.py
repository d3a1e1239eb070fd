"""Unknown outcomes, oldest first: looking them up and proposing corrections."""

from operator import attrgetter
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from payments.admin.charges.attempts import AttemptAdmin, ByModeOfCharge
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    lines,
    link,
    mode_column,
    money,
    pretty_json,
    time_column,
)
from payments.admin.framework.object_actions import ActionButton, Facts, form_page, operator_of
from payments.admin.framework.reason_form import SecretsHidden, TextForm
from payments.admin.moments import moment_cell, moment_text
from payments.admin.operators.corrections import DECISIONS
from payments.admin.operators.decisions import acts_on
from payments.domain.approvals.kinds.corrections import proposed_outcome
from payments.domain.approvals.request import submit
from payments.domain.bulkheads import ProviderBusy
from payments.domain.operators.four_eyes import Refused
from payments.domain.operators.lookups import look_up
from payments.ids import public_id
from payments.models import Attempt, Correction, Merchant, UnknownOutcome
from payments.models.operators.approval_request import CORRECTION, EVIDENCE_MAX_LENGTH
from payments.models.operators.reasons import free_of_secrets
from payments.providers.failure_data import REASONS
from payments.sensitive_data.card_numbers import holds_taken_card

MAY_LOOK_UP = "payments.look_up_unknownoutcome"
MAY_PROPOSE = "payments.propose_correction"


class ReferenceInput(forms.TextInput):
    """An input that drops a refused card number and keeps any other text."""

    def format_value(self, value: Any) -> str:
        return "" if holds_taken_card(value or "") else value or ""


class ProposalForm(TextForm, forms.Form):
    outcome = forms.ChoiceField(
        choices=Correction.Outcome.choices, widget=forms.RadioSelect(attrs={"class": "radiolist"})
    )
    decline_code = forms.ChoiceField(
        choices=[("", NOTHING), *((code, code) for code in REASONS)],
        required=False,
        help_text="Of a decline: the code that the merchant sees.",
    )
    provider_ref = forms.CharField(
        label="Provider's reference",
        max_length=255,
        required=False,
        widget=ReferenceInput(attrs={"class": "vTextField"}),
        help_text="Of an approval: the provider's own name of it.",
    )
    evidence = forms.CharField(
        max_length=EVIDENCE_MAX_LENGTH,
        widget=SecretsHidden(attrs={"rows": 6, "class": "vLargeTextField"}),
        help_text="Where the provider's own records say so: report, line, ticket. No card numbers. It is kept.",
        validators=[free_of_secrets],
    )

    def correction(self, attempt: Attempt, operator: User) -> Correction:
        """Return the form's values as an unsaved correction of `attempt`."""
        cleaned = self.cleaned_data
        after = {"outcome": cleaned["outcome"], "code": cleaned["decline_code"], "reference": cleaned["provider_ref"]}
        reason = cleaned["evidence"]
        return Correction(kind=CORRECTION, attempt=attempt, after=after, reason=reason, proposed_by=operator)


@admin.register(UnknownOutcome)
class UnknownOutcomeAdmin(AttemptAdmin):
    views = {
        "payments_unknownoutcome_look_up": ("<uuid:pk>/look-up/", "look_up"),
        "payments_unknownoutcome_propose": ("<uuid:pk>/propose/", "propose"),
    }
    list_display = ("payer", "what", "provider", "at", "shown_amount", "standing", "since", "next_lookup")
    file_columns = ("since", "whose", "asked", "answered", "looked_up", "proposal")
    list_filter = ("kind", ByModeOfCharge)
    ordering = ("pk",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    *("since", "kind", "shown_amount", "charge_link", "refund_link"),
                    *("provider", "shown_reference", "provider_ref", "events"),
                )
            },
        ),
        ("Answered", {"fields": ("answered", "lookups", "next_lookup")}),
        ("Proposed", {"fields": ("proposals",)}),
        ("As sent", {"fields": ("merchant", "mode", "request_id", "shown_response")}),
    )
    merchant = column(
        "Merchant", lambda attempt: link(Merchant, attempt.charge.merchant_id, attempt.charge.merchant.title)
    )
    mode = mode_column("charge")
    at = column("At", lambda attempt: attempt.charge.merchant)
    standing = column("State", lambda attempt: chip("proposed") if attempt.is_proposed else chip("unknown", "warn"))
    since = time_column("Since", attrgetter("created_at"))
    answered = column("Answered", lambda attempt: lines(value for value in (attempt.response or {}).values() if value))
    lookups = column("Lookups", lambda attempt: attempt.tries)
    next_lookup = time_column("Next lookup", attrgetter("due_at"))
    looked_up = column("Lookups, next", lambda attempt: lines((attempt.tries, moment_cell(attempt.due_at))))
    proposal = column("Proposal", lambda attempt: chip(Correction.State.PROPOSED) if attempt.is_proposed else NOTHING)

    def headline(self, row: Attempt) -> str:
        return f"Whether the provider did {row.kind} {money(row.amount, row.charge.currency)} is not known"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        proposed = Correction.objects.proposed().filter(attempt=OuterRef("pk"))
        return super().get_queryset(request).annotate(is_proposed=Exists(proposed))

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        if self.get_object(request, unquote(object_id)) is None:
            return self._leave(request, object_id)
        return super().change_view(request, object_id, *args, **kwargs)

    @method_decorator(require_POST)
    def look_up(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Look the attempt up at the provider now."""
        if not operator_of(request).has_perm(MAY_LOOK_UP):
            raise PermissionDenied
        attempt = self.get_queryset(request).filter(pk=pk).first()
        if attempt is None:
            return self._leave(request, pk)
        try:
            asked = look_up(attempt)
        except ProviderBusy as busy:
            self.message_user(request, busy.message, messages.WARNING)
            return redirect("admin:payments_unknownoutcome_change", pk)
        return self._found(request, pk, asked)

    def propose(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Ask for outcome and evidence, and propose them for approval."""
        operator = operator_of(request)
        if not operator.has_perm(MAY_PROPOSE):
            raise PermissionDenied
        attempt = self.get_queryset(request).filter(pk=pk).first()
        if attempt is None:
            return self._leave(request, pk)
        form = ProposalForm(request.POST or None)
        if form.is_valid() and self._proposed(request, form, form.correction(attempt, operator)):
            return redirect("admin:payments_unknownoutcome_change", pk)
        title, button = f"Outcome of {attempt}", ("propose", "Propose for approval")
        return form_page(request, self, title, _facts_of(attempt), form, [button], None, attempt)

    def _proposed(self, request: HttpRequest, form: ProposalForm, correction: Correction) -> bool:
        try:
            submit(correction)
        except ValidationError as error:
            form.add_error(None, error.messages)
            return False
        except Refused as refusal:
            form.add_error(None, str(refusal))
            return False
        self.message_user(request, "Proposed. Another person must approve it.", messages.SUCCESS)
        return True

    def _found(self, request: HttpRequest, pk: UUID, asked: bool) -> HttpResponse:
        now = Attempt.objects.get(pk=pk)
        if not asked:
            self.message_user(request, "Another lookup is running.", messages.WARNING)
        elif now.is_unresolved:
            text = f"The outcome is still unknown. The next lookup is at {moment_text(now.due_at)}."
            self.message_user(request, text, messages.WARNING)
        else:
            self.message_user(request, f"The provider's answer: {now.outcome or now.state}.", messages.SUCCESS)
            return redirect("admin:payments_attempt_change", pk)
        return redirect("admin:payments_unknownoutcome_change", pk)

    def _leave(self, request: HttpRequest, pk: UUID | str) -> HttpResponse:
        """Redirect to an attempt whose outcome is known; raise Http404 if this operator may not see it."""
        if self.admin_site.get_model_admin(Attempt).get_object(request, str(pk)) is None:
            raise Http404
        self.message_user(request, "The outcome of this attempt is known.", messages.WARNING)
        return redirect("admin:payments_attempt_change", pk)

    def buttons_of(self, request: HttpRequest, row: UnknownOutcome) -> list[ActionButton]:
        operator, acts = operator_of(request), []
        if operator.has_perm(MAY_LOOK_UP):
            acts.append(ActionButton("Look up now", _address("look_up", row), posts=True))
        proposal = Correction.objects.proposed().filter(attempt=row).first()
        if proposal:
            return [*acts, *acts_on(request, proposal, DECISIONS)]
        if operator.has_perm(MAY_PROPOSE):
            acts.append(ActionButton("Propose an outcome", _address("propose", row)))
        return acts

    @admin.display(description="Whose")
    def whose(self, attempt: UnknownOutcome) -> SafeString | str:
        return lines((self.merchant(attempt), self.mode(attempt), self.charge_link(attempt)))

    @admin.display(description="Asked")
    def asked(self, attempt: UnknownOutcome) -> SafeString | str:
        what = f"{attempt.kind}, {self.shown_amount(attempt)}"
        text = (what, attempt.provider, attempt.reference, attempt.provider_ref, attempt.request_id)
        return lines(filter(None, text))

    @admin.display(description="So far")
    def proposals(self, attempt: UnknownOutcome) -> SafeString | str:
        rows = Correction.objects.filter(attempt=attempt).select_related("proposed_by").order_by("-pk")
        return lines(
            link(
                Correction,
                row.pk,
                f"{row.state}: {proposed_outcome(row)}, by {row.proposed_by}, {moment_text(row.created_at)}",
            )
            for row in rows
        )


def _address(act: str, attempt: UnknownOutcome) -> str:
    return reverse(f"admin:payments_unknownoutcome_{act}", args=[attempt.pk])


def _facts_of(attempt: UnknownOutcome) -> Facts:
    """Return what an operator looks for in the provider's records."""
    charge = attempt.charge
    yield "Asked", f"{attempt.kind}, {moment_text(attempt.created_at)}"
    yield "Amount", money(attempt.amount, charge.currency)
    yield "Provider", attempt.provider
    yield "Our reference there", attempt.reference
    yield "The provider's, if it gave one", attempt.provider_ref or NOTHING
    yield "Charge", public_id("ch", charge.pk)
    yield "Answered", pretty_json(attempt.response)
