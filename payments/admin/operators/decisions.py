"""Pages of rows that one operator proposes and another decides."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.columns import WITH_PAYER, payer_column
from payments.admin.framework.base import ReadOnlyAdmin
from payments.admin.framework.formats import chip, column, money_column, time_column
from payments.admin.framework.object_actions import ActionButton, Consequence, Facts, form_page, operator_of
from payments.admin.framework.reason_form import reason_field
from payments.domain.approvals import decide
from payments.domain.catalogue.said import translated
from payments.domain.operators.four_eyes import Refused
from payments.inbox.decisions import MAY_DECIDE
from payments.models import ApprovalRequest
from payments.vault import VaultUnavailable

State = ApprovalRequest.State
CHIPS = {
    State.PROPOSED: "warn",
    State.APPROVED: "warn",
    State.DONE: "good",
    State.REFUSED: "bad",
    State.REJECTED: "bad",
}
Message = tuple[int, Any]
APPROVE = _("Approve")


class Decision(NamedTuple):
    """A possible decision: its form value and button, its verb, and the permission where it is the proposer's."""

    name: str
    label: Any
    decide: Callable[[Any, User, str], object]
    by_proposer: str = ""


def decisions_on(may_withdraw: str, approve: Any = APPROVE) -> Sequence[Decision]:
    """Return the decisions on requests, with the label of their approval; who may decide is the kind's."""
    return (
        Decision("approve", approve, decide.approve),
        Decision("reject", _("Reject"), decide.reject),
        Decision("withdraw", _("Withdraw"), decide.withdraw, may_withdraw),
    )


class DecisionForm(forms.Form):
    decision = forms.CharField(widget=forms.HiddenInput)
    note = reason_field(_("What you checked yourself. It is kept."))


class DecidedByAnother(ReadOnlyAdmin):
    """The page of a proposal, with its texts and what a decision does; nobody edits one."""

    merchant_lookup = "merchant"
    list_select_related = ("merchant", *WITH_PAYER, "attempt", "proposed_by", "decided_by")
    payer = payer_column()
    shown_state = column(_("State"), lambda row: chip(row.state, CHIPS.get(State(row.state), "quiet")))
    shown_amount = money_column("amount")
    # What waits for a decision was not decided at any time.
    updated = time_column(_("Updated"), lambda row: None if row.state == State.PROPOSED else row.updated_at)
    decisions: Sequence[Decision]
    messages: Mapping[ApprovalRequest.State, Message] = MappingProxyType({})

    @abstractmethod
    def in_words(self, row: Any) -> str:
        """Return what is asked for, in a few words."""

    def result(self, row: Any) -> Message:
        """Return the message about the result of a decision."""
        return self.messages[State(row.state)]

    def question(self, row: Any) -> str:
        """Return the question to decide, as a title."""
        return f"{row}?"

    def consequence_of(self, row: Any) -> Consequence | None:
        """Return the consequence of an approval; None where the facts say it."""
        return None

    def shown(self, row: Any) -> Any:
        """Return `row` as the page of a decision shows it; the decision is about the row itself."""
        return row

    @abstractmethod
    def facts_of(self, row: Any) -> Facts:
        """Yield what the approver must know."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide)
        name = f"{self.opts.app_label}_{self.opts.model_name}_decide"
        return [path("<uuid:pk>/decide/", view, name=name), *super().get_urls()]

    @admin.display(description=_("What"))
    def what(self, row: Any) -> str:
        return capfirst(self.in_words(row))

    def headline(self, row: Any) -> str:
        return self.what(row)

    def buttons_of(self, request: HttpRequest, row: Any) -> list[ActionButton]:
        return acts_on(request, row, self.decisions_about(request, row))

    def decisions_about(self, request: HttpRequest, row: Any) -> Sequence[Decision]:
        """Return the decisions that are offered to whom they are allowed."""
        return self.decisions

    def decide(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Ask for a note, and carry the decision out."""
        row = get_object_or_404(self.get_queryset(request), pk=pk)
        fitting = _fitting(request, row, self.decisions_about(request, row))
        if not fitting:
            raise PermissionDenied
        if fitting[0].name == "approve":
            raise_if_reauthentication_required(request, app="account")
        form = DecisionForm(request.POST or None)
        if not form.is_valid():
            return self._decision_page(request, row, form, fitting)
        allowed = {decision.name: decision for decision in _allowed(request, row, self.decisions)}
        chosen = allowed.get(form.cleaned_data["decision"])
        if chosen is None:
            raise PermissionDenied
        try:
            chosen.decide(row, operator_of(request), form.cleaned_data["note"])
            level, text = self.result(row)
        except Refused as refusal:
            level, text = messages.ERROR, translated(str(refusal))
        except VaultUnavailable as fault:
            level, text = messages.ERROR, f"{fault} {gettext('The request is still open: try again in a moment.')}"
        self.message_user(request, text, level)
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", pk)

    def _decision_page(
        self, request: HttpRequest, row: Any, form: forms.Form, fitting: Sequence[Decision]
    ) -> HttpResponse:
        buttons = [(decision.name, decision.label) for decision in fitting]
        shown, mode = self.shown(row), self.mode_of(row)
        consequence = self.consequence_of(shown) if fitting[0].name == "approve" else None
        facts = self.facts_of(shown)
        return form_page(request, self, self.question(row), facts, form, buttons, consequence, row, mode)


def acts_on(request: HttpRequest, row: Any, decisions: Sequence[Decision]) -> list[ActionButton]:
    """Return the buttons for `row` while it is open, as far as this operator may press them."""
    may = _fitting(request, row, decisions)
    if row.state != State.PROPOSED or not may:
        return []
    label = _("Withdraw the request") if may[0].by_proposer else _("Decide the request")
    shown_as = row.shown_as._meta
    address = f"admin:{shown_as.app_label}_{shown_as.model_name}_decide"
    return [ActionButton(label, reverse(address, args=[row.pk]))]


def _allowed(request: HttpRequest, row: Any, decisions: Sequence[Decision]) -> list[Decision]:
    may = operator_of(request).has_perm
    return [decision for decision in decisions if may(decision.by_proposer or MAY_DECIDE[row.kind])]


def _fitting(request: HttpRequest, row: Any, decisions: Sequence[Decision]) -> list[Decision]:
    is_own = row.proposed_by_id == operator_of(request).pk
    return [decision for decision in _allowed(request, row, decisions) if bool(decision.by_proposer) == is_own]
