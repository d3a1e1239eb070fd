"""Pages of rows that one operator proposes and another decides."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse

from payments.admin.framework.base import LookOnlyAdmin
from payments.admin.framework.object_actions import ActionButton, Consequence, Facts, form_page, operator_of
from payments.admin.framework.reason_form import reason_field
from payments.domain.operators.four_eyes import Refused

PROPOSED = "proposed"
Message = tuple[int, str]


class Decision(NamedTuple):
    """A possible decision: its form value, its button, its permission, and whether it is the proposer's."""

    name: str
    label: str
    permission: str
    by_proposer: bool = False


class DecisionForm(forms.Form):
    decision = forms.CharField(widget=forms.HiddenInput)
    note = reason_field("What you checked yourself. It is kept.")


class Proposal(ABC):
    """The texts of a proposal, and what a decision does."""

    decisions: Sequence[Decision]

    @abstractmethod
    def question(self, row: Any) -> str:
        """Return the question to decide, as a title."""

    def consequence_of(self, row: Any) -> Consequence | None:
        """Return the consequence of an approval; None where the facts say it."""
        return None

    @abstractmethod
    def facts_of(self, row: Any) -> Facts:
        """Yield what the approver must know."""

    @abstractmethod
    def carry_out(self, row: Any, decision: str, operator: Any, note: str) -> Message:
        """Carry the decision out and return a message about the result; raise Refused."""


class DecidedByAnother(LookOnlyAdmin):
    """The page of a proposal; nobody edits one."""

    proposal: Proposal

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide)
        name = f"{self.opts.app_label}_{self.opts.model_name}_decide"
        return [path("<uuid:pk>/decide/", view, name=name), *super().get_urls()]

    def buttons_of(self, request: HttpRequest, row: Any) -> list[ActionButton]:
        return acts_on(request, row, self.proposal.decisions)

    def decide(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Ask for a note, and carry the decision out."""
        row, about = get_object_or_404(self.get_queryset(request), pk=pk), self.proposal
        fitting = _fitting(request, row, about.decisions)
        if not fitting:
            raise PermissionDenied
        form = DecisionForm(request.POST or None)
        if not form.is_valid():
            buttons = [(decision.name, decision.label) for decision in fitting]
            consequence = None if fitting[0].by_proposer else about.consequence_of(row)
            return form_page(request, self, about.question(row), about.facts_of(row), form, buttons, consequence)
        if form.cleaned_data["decision"] not in {decision.name for decision in _allowed(request, about.decisions)}:
            raise PermissionDenied
        level, text = self._decided(request, row, **form.cleaned_data)
        self.message_user(request, text, level)
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", pk)

    def _decided(self, request: HttpRequest, row: Any, decision: str, note: str) -> Message:
        try:
            return self.proposal.carry_out(row, decision, operator_of(request), note)
        except Refused as refusal:
            return messages.ERROR, str(refusal)


def acts_on(request: HttpRequest, row: Any, decisions: Sequence[Decision]) -> list[ActionButton]:
    """Return the buttons for `row` while it is open, as far as this operator may press them."""
    may = _fitting(request, row, decisions)
    if row.state != PROPOSED or not may:
        return []
    label = "Withdraw the proposal" if may[0].by_proposer else "Decide the proposal"
    address = f"admin:{row._meta.app_label}_{row._meta.model_name}_decide"
    return [ActionButton(label, reverse(address, args=[row.pk]))]


def _allowed(request: HttpRequest, decisions: Sequence[Decision]) -> list[Decision]:
    return [decision for decision in decisions if operator_of(request).has_perm(decision.permission)]


def _fitting(request: HttpRequest, row: Any, decisions: Sequence[Decision]) -> list[Decision]:
    is_own = row.proposed_by_id == operator_of(request).pk
    return [decision for decision in _allowed(request, decisions) if decision.by_proposer == is_own]
