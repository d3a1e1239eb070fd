"""Operator actions on charges, and the decisions on requested ones."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse

from payments.admin.framework.base import by_mode_of, one_of
from payments.admin.framework.decisions import DecidedByAnother, Decision, acts_on
from payments.admin.framework.formats import chip, column, link, money, money_column, row_link_column, source_label
from payments.admin.framework.object_actions import ActionButton, Consequence, Facts, operator_of
from payments.admin.moments import moment_text
from payments.admin.operators.bulk_actions import sums_of
from payments.admin.operators.words import ACTIONS, Message, result
from payments.domain.operators import decide, execute
from payments.domain.operators.summary import describe
from payments.ids import public_id
from payments.models import Attempt, Charge, OperatorAction

Kind, State = OperatorAction.Kind, OperatorAction.State
MAY_DECIDE = "payments.decide_operatoraction"
DECISIONS = (
    Decision("approve", "Approve and execute", MAY_DECIDE, decide.approve),
    Decision("decline", "Decline", MAY_DECIDE, decide.decline),
    Decision("withdraw", "Withdraw", "payments.refund_charge", decide.withdraw, by_proposer=True),
)
CHIPS = {
    State.PROPOSED: "warn",
    State.APPROVED: "warn",
    State.DONE: "good",
    State.REFUSED: "bad",
    State.DECLINED: "bad",
}


class ByTurn(admin.SimpleListFilter):
    """A filter by whose decision is due, or was."""

    title = "turn"
    parameter_name = "turn"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("me", "Waiting for me"), ("others", "Mine, waiting for others"), ("mine", "All of mine")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        mine, waits = Q(proposed_by=operator_of(request)), Q(state=State.PROPOSED)
        conditions = {"me": waits & ~mine, "others": waits & mine, "mine": mine}
        return queryset.filter(conditions.get(self.value() or "", Q()))


class ByBatch(admin.SimpleListFilter):
    """A filter for actions requested together, shown to those who come from there."""

    title = "batch"
    parameter_name = "batch"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        given = request.GET.get(self.parameter_name)
        return [(given, "Requested together")] if given else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return of_batch(queryset, self.value()) if self.value() else queryset


def of_batch(rows: QuerySet[Any], text: str | None) -> QuerySet[Any]:
    """Return the `rows` of the batch with this ID; none for an invalid ID."""
    try:
        return rows.filter(batch=UUID(text or ""))
    except ValueError:
        return rows.none()


@admin.register(OperatorAction)
class OperatorActionAdmin(DecidedByAnother):
    merchant_lookup = "charge__merchant"
    decisions = DECISIONS
    list_display = (
        "created",
        "shown_state",
        "kind",
        "shown_amount",
        "charge_link",
        "reason",
        "proposed_by",
        "decided_by",
    )
    list_filter = (
        ByTurn,
        ByBatch,
        one_of("state", State.values),
        one_of("kind", Kind.values),
        by_mode_of("charge"),
        "created_at",
    )
    sum_of = ("amount", "currency")
    list_select_related = ("charge", "proposed_by", "decided_by")
    search_fields = ("reason", "note")
    uuid_lookups = {
        "": ("pk",),
        "req": ("pk",),
        "ch": ("charge_id",),
        "src": ("charge__source_id",),
        "mer": ("charge__merchant_id",),
        "attempt": ("attempt_id",),
    }
    object_lookups = ("charge_id",)
    last4_lookups = ("charge__source__card__last4",)
    fieldsets = (
        (None, {"fields": ("shown_state", "how_it_went", "kind", "shown_amount", "charge_link")}),
        ("Requested", {"fields": ("reason", "proposed_by", "created", "shown_limit", "expires")}),
        ("Decided", {"fields": ("note", "decided_by", "decided")}),
        ("Done", {"fields": ("attempt_link", "code", "updated")}),
    )
    shown_amount = money_column("amount")
    shown_limit = money_column("limit")
    attempt_link = row_link_column("attempt", Attempt)
    shown_state = column("State", lambda act: chip(act.state, CHIPS.get(State(act.state), "quiet")))
    how_it_went = column("How it went", lambda act: result(act)[1])

    def question(self, row: OperatorAction) -> str:
        return f"{ACTIONS[row.kind].label}: {money(row.amount, row.currency)}?"

    def consequence_of(self, row: OperatorAction) -> Consequence:
        return ACTIONS[row.kind].consequence(row.charge, row.amount)

    def facts_of(self, row: OperatorAction) -> Facts:
        charge = row.charge
        yield "Charge", link(Charge, charge.pk, public_id("ch", charge.pk))
        yield "Paid with", source_label(charge.source)
        yield "Captured", money(charge.amount_captured, charge.currency)
        yield "Refunded so far", money(charge.amount_refunded, charge.currency)
        yield "Requested by", f"{row.proposed_by}, {moment_text(row.created_at)}"
        yield "Why", row.reason
        yield "Open until", f"{moment_text(row.expires_at)}"

    def carry_out(self, row: OperatorAction, decision: Decision, operator: User, note: str) -> Message:
        decision.decide(row, operator, note)
        if row.state == State.APPROVED:
            execute.execute_action(row)
        return result(row)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the results of a batch so far above its list."""
        acts = of_batch(self.get_queryset(request), request.GET.get("batch"))
        states = sorted({act.state for act in acts})
        text = "; ".join(f"{state} {sums_of(act for act in acts if act.state == state)}" for state in states)
        answer: Any = super().changelist_view(request, {"subtitle": text, **(extra_context or {})})
        return answer


def decisions_of(request: HttpRequest, charge: Charge) -> Iterable[ActionButton]:
    """Yield the buttons of the charge's requests that wait for this operator's decision."""
    for row in charge.operator_actions.proposed().order_by("pk"):
        yield from (ActionButton(f"{act.label}: {describe(row)}", act.url) for act in acts_on(request, row, DECISIONS))
