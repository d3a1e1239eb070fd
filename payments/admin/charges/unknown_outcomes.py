"""Unknown outcomes, oldest first: looking them up and proposing corrections."""

from operator import attrgetter
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from payments.admin.charges.attempts import AttemptAdmin, ByModeOfCharge
from payments.admin.framework.actions import Action, Done, Result, page_of
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    lines,
    link,
    mode_column,
    pretty_json,
    provider_title,
    time_column,
)
from payments.admin.framework.object_actions import ActionButton, Facts
from payments.admin.framework.reason_form import SecretsHidden, TextForm
from payments.admin.operators.decisions import acts_on
from payments.admin.operators.words import UNNAMED_ORDER, asked_of
from payments.admin.shown_times import moment_cell, moment_text
from payments.domain.approvals.kinds.corrections import proposed_outcome
from payments.domain.approvals.request import submit
from payments.domain.bulkheads import ProviderBusy
from payments.domain.operators.four_eyes import Refused
from payments.domain.operators.lookups import look_up
from payments.models import Attempt, Charge, Correction, Merchant, UnknownOutcome
from payments.models.operators.approval_request import CORRECTION, EVIDENCE_MAX_LENGTH
from payments.models.operators.reasons import free_of_secrets
from payments.providers.failure_data import REASONS
from payments.sensitive_data.card_numbers import holds_taken_card

MAY_LOOK_UP = "payments.look_up_unknownoutcome"
KNOWN = "The outcome of this attempt is known."


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


class OnUnknown(Action):
    over = KNOWN

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        found = page.get_queryset(request).filter(pk=pk).first()
        return found or page.known(request, pk)

    def fits(self, row: Attempt) -> bool:
        return isinstance(row, UnknownOutcome)


class LookUp(OnUnknown):
    """At the provider, now."""

    name, label = "look_up", "Look up now"
    permission = MAY_LOOK_UP
    asks_nothing = True

    def do(self, row: Attempt, cleaned: dict[str, Any]) -> Done:
        try:
            asked = look_up(row)
        except ProviderBusy as busy:
            return Result(busy.message, level=messages.WARNING)
        now = Attempt.objects.get(pk=row.pk)
        if not asked:
            return Result("Another lookup is running.", level=messages.WARNING)
        if now.is_unresolved:
            text = f"The outcome is still unknown. The next lookup is at {moment_text(now.due_at)}."
            return Result(text, level=messages.WARNING)
        return Result(f"The provider's answer: {now.outcome or now.state}.", now)


class Propose(OnUnknown):
    """An outcome that an operator found in the provider's records."""

    name, label, button = "propose", "Propose an outcome", "Propose for approval"
    permission = Correction.MAY_PROPOSE
    form = ProposalForm
    refusals = (ValidationError, Refused)

    def question(self, row: Attempt) -> str:
        return f"What was the outcome of the {asked_of(row, row.charge.currency)}?"

    def is_offered_to(self, operator: User, row: Attempt) -> bool:
        return not Correction.objects.proposed().filter(attempt=row).exists()

    def facts(self, row: Attempt) -> Facts:
        """Yield what an operator looks for in the provider's records."""
        charge = row.charge
        yield "Asked", f"{capfirst(asked_of(row, charge.currency))}, {moment_text(row.created_at)}"
        yield "Provider", provider_title(row.provider)
        yield "Our reference there", row.reference
        yield "The provider's, if it gave one", row.provider_ref or NOTHING
        yield "Payment", link(Charge, charge.pk, charge.description or UNNAMED_ORDER)
        yield "Answered", pretty_json(row.response)

    def do(self, row: Attempt, cleaned: dict[str, Any]) -> Done:
        submit(cleaned["form"].correction(row, cleaned["operator"]))
        return "Proposed. Another person must approve it."


@admin.register(UnknownOutcome)
class UnknownOutcomeAdmin(AttemptAdmin):
    row_actions = (LookUp(), Propose())
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
        return f"The outcome of the {asked_of(row, row.charge.currency)} is not known"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        proposed = Correction.objects.proposed().filter(attempt=OuterRef("pk"))
        return super().get_queryset(request).annotate(is_proposed=Exists(proposed))

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().change_view(request, object_id, *args, **kwargs)
        except Http404:
            return self._leave(request, object_id)

    def known(self, request: HttpRequest, pk: UUID | str) -> Attempt:
        """Return an attempt whose outcome is known; raise Http404 if this operator may not see it."""
        found: Attempt | None = self.admin_site.get_model_admin(Attempt).get_object(request, str(pk))
        if found is None:
            raise Http404
        return found

    def page_after(self, row: Attempt) -> str:
        return page_of(row)

    def _leave(self, request: HttpRequest, pk: UUID | str) -> HttpResponse:
        """Redirect to an attempt whose outcome is known."""
        known = self.known(request, pk)
        self.message_user(request, KNOWN, messages.WARNING)
        return redirect(page_of(known))

    def buttons_of(self, request: HttpRequest, row: UnknownOutcome) -> list[ActionButton]:
        proposal = Correction.objects.proposed().filter(attempt=row).first()
        return [*super().buttons_of(request, row), *(acts_on(self, request, proposal) if proposal else ())]

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
