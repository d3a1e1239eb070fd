"""Pages of rows that one operator proposes and another decides."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.columns import WITH_PAYER, payer_column
from payments.admin.contacts import People
from payments.admin.framework.actions import DECISION, Action, Done, Result
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import chip, column, money, time_column
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import ActionButton, Facts, Move, address_of, operator_of
from payments.admin.framework.reason_form import reason_field
from payments.admin.operators.checks import checks_of
from payments.admin.operators.words import payment_facts
from payments.domain.approvals import decide
from payments.domain.approvals.verbs import VERBS
from payments.domain.catalogue.refusal_texts import translated
from payments.domain.operators.four_eyes import Refused
from payments.inbox.decisions import MAY_DECIDE, to_decide
from payments.inbox.entries import Entry
from payments.inbox.entry_texts import decision_entry
from payments.models import ApprovalRequest
from payments.models.operators.approval_rules import EXECUTED
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


@dataclass(frozen=True, slots=True)
class Decision:
    """A possible decision: its form value and button, its verb, and the permission where it is the proposer's."""

    name: str
    label: Any
    decide: Callable[[Any, User, str], object]
    by_proposer: str = ""

    def label_of(self, row: Any) -> Any:
        """Return the button of the decision on `row`: an approval names the amount that moves."""
        if self.name != "approve" or row.kind not in EXECUTED or not row.amount:
            return self.label
        return gettext("Approve {amount}").format(amount=money(row.amount, row.currency))


class DecisionForm(forms.Form):
    note = reason_field(_("What you checked yourself. It is kept."))

    def __init__(self, data: Any) -> None:
        super().__init__(data, label_suffix="")


class Decide(Action):
    """The decision on a request: to approve it, which is called `approve`, to reject it, or to withdraw one's own."""

    name, label = "decide", _("Decide the request")
    form = DecisionForm
    for_merchants = True

    def __init__(self, may_withdraw: str, approve: Any = APPROVE) -> None:
        self.decisions = (
            Decision("approve", approve, decide.approve),
            Decision("reject", _("Reject"), decide.reject),
            Decision("withdraw", _("Withdraw"), decide.withdraw, may_withdraw),
        )

    def is_allowed(self, page: Any, request: HttpRequest) -> bool:
        """Return True: who may decide is the kind's."""
        return True

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        row = super().find(page, request, pk)
        fitting = self.fitting(operator_of(request), row)
        if not fitting:
            raise PermissionDenied
        if fitting[0].name == "approve":
            raise_if_reauthentication_required(request, app="account")
        return row

    def buttons(self, page: Any, request: HttpRequest, row: Any) -> list[ActionButton]:
        fitting = self.fitting(operator_of(request), row)
        if not fitting or not is_open_for(fitting[0], row):
            return []
        label = _("Withdraw the request") if fitting[0].by_proposer else self.label
        return [ActionButton(label, address_of(page, self.name, row.pk))]

    def seen(self, page: Any, request: HttpRequest, row: Any, form: forms.Form) -> dict[str, Any]:
        fitting, shown = self.fitting(operator_of(request), row), page.shown(row)
        approves = fitting[0].name == "approve"
        return {
            "title": page.question(shown),
            "asks": asked_by(shown, page.why_it_waits(shown)),
            "facts": page.facts_of(shown),
            "beside": payment_facts(row.charge) if row.charge else (),
            "moves": list(page.moves_of(shown)) if approves else (),
            "moves_title": _("What happens if you approve"),
            "notice": page.consequence_of(shown) if approves else None,
            "checks": list(checks_of(row.charge, row.amount)) if approves and _gives_back(row) else (),
            "buttons": [(each.name, each.label_of(row)) for each in fitting],
            "mode": page.mode_of(row),
        }

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        operator, page = cleaned["operator"], cleaned["page"]
        allowed = {decision.name: decision for decision in self._allowed(operator, row)}
        if cleaned[DECISION] not in allowed:
            raise PermissionDenied
        try:
            allowed[cleaned[DECISION]].decide(row, operator, cleaned["note"])
            level, text = page.result(row)
        except Refused as refusal:
            level, text = messages.ERROR, translated(str(refusal))
        except VaultUnavailable as fault:
            level, text = messages.ERROR, f"{fault} {gettext('The request is still open: try again in a moment.')}"
        return Result(text, level=level)

    def waiting(self, page: Any, request: HttpRequest, row: Any) -> Iterable[Entry]:
        found = to_decide(operator_of(request), limit_of(request))
        return [decision_entry(each, self.name) for each in found]

    def fitting(self, operator: User, row: Any) -> list[Decision]:
        """Return the decisions that are for this person, who may have asked for it."""
        is_own = row.proposed_by_id == operator.pk
        return [decision for decision in self._allowed(operator, row) if bool(decision.by_proposer) == is_own]

    def _allowed(self, operator: User, row: Any) -> list[Decision]:
        may = operator.has_perm
        return [each for each in self.decisions if may(each.by_proposer or MAY_DECIDE[row.kind])]


def _gives_back(row: Any) -> bool:
    return bool(row.charge and row.kind in EXECUTED and VERBS[row.verb].outward)


def is_open_for(decision: Decision, row: Any) -> bool:
    """Return whether `decision` is still to be made: a key that was approved may be given up until it is taken."""
    is_untaken = row.state == State.APPROVED and row.kind in ApprovalRequest.KEYS
    return row.state == State.PROPOSED or (is_untaken and bool(decision.by_proposer))


def asked_by(row: Any, why_it_waits: Any) -> dict[str, Any]:
    """Return who asks for what the `row` is about, when and why, and why that waits."""
    who = row.proposed_by or gettext("An assistant")
    return {"who": who, "when": row.created_at, "words": row.reason, "why": why_it_waits}


class DecidedByAnother(BaseAdmin):
    """The page of a proposal, with its texts and what a decision does; nobody edits one."""

    list_select_related = ("merchant", *WITH_PAYER, "attempt", "proposed_by", "decided_by")
    parts = (People(lambda row: row.charge.source if row.charge else None),)
    payer = payer_column()
    shown_state = column(_("State"), lambda row: chip(row.state, CHIPS.get(State(row.state), "quiet")))
    # What waits for a decision was not decided at any time.
    updated = time_column(_("Updated"), lambda row: None if row.state == State.PROPOSED else row.updated_at)
    messages: Mapping[ApprovalRequest.State, Message] = MappingProxyType({})

    @abstractmethod
    def in_words(self, row: Any) -> str:
        """Return what is asked for, in a few words."""

    def result(self, row: Any) -> Message:
        """Return the message about the result of a decision."""
        return self.messages[State(row.state)]

    def question(self, row: Any) -> str:
        """Return the question to decide, as a title."""
        return f"{capfirst(self.in_words(row))}?"

    def consequence_of(self, row: Any) -> Any:
        """Return the consequence of an approval; None where the facts say it."""
        return None

    def moves_of(self, row: Any) -> Iterable[Move]:
        """Yield each sum that an approval moves, and what is left."""
        return ()

    def why_it_waits(self, row: Any) -> str:
        """Return why nobody does it alone."""
        return gettext("It waits because one person alone may not do this.")

    def shown(self, row: Any) -> Any:
        """Return `row` as the page of a decision shows it; the decision is about the row itself."""
        self.complete(rows := [copy(row)])
        return rows[0]

    @abstractmethod
    def facts_of(self, row: Any) -> Facts:
        """Yield what the approver must know."""

    @admin.display(description=_("What"))
    def what(self, row: Any) -> str:
        return capfirst(self.in_words(row))

    def headline(self, row: Any) -> str:
        return self.what(row)


def acts_on(page: Any, request: HttpRequest, row: Any) -> list[ActionButton]:
    """Return the buttons of the page of a request to decide it, as far as this person may press them."""
    own = page.admin_site.get_model_admin(row.shown_as)
    return [button for act in own.row_actions if isinstance(act, Decide) for button in act.buttons(own, request, row)]
