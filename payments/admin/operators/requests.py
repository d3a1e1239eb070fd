"""Operator actions on charges, and the decisions on requested ones."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.filters import by_mode_of, one_of
from payments.admin.framework.formats import column, money
from payments.admin.framework.id_search import OF_CHARGE, IdSearch
from payments.admin.framework.object_actions import ActionButton, Facts, Move, Part, operator_of
from payments.admin.operators.bulk_actions import sums_of
from payments.admin.operators.decisions import Decide, DecidedByAnother, acts_on
from payments.admin.operators.words import (
    ACTIONS,
    HEADLINES,
    Message,
    consequence_of,
    headline_of,
    in_few_words,
    refund_facts,
    result,
    what_moves,
)
from payments.admin.shown_times import moment_text
from payments.domain.charging.verbs import REFUND
from payments.models import ApprovalRequest, Charge, OperatorAction
from payments.models.operators.approval_rules import EXECUTED

State = OperatorAction.State
STATES = [state.value for state in State if state != State.OVERTAKEN]
DECIDE = Decide(REFUND.permission, _("Approve and execute"))


class ByTurn(admin.SimpleListFilter):
    """A filter by whose decision is due, or was."""

    title = _("turn")
    parameter_name = "turn"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[Any]:
        return [("me", _("Waiting for me")), ("others", _("Mine, waiting for others")), ("mine", _("All of mine"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        mine, waits = Q(proposed_by=operator_of(request)), Q(state=State.PROPOSED)
        conditions = {"me": waits & ~mine, "others": waits & mine, "mine": mine}
        return queryset.filter(conditions.get(self.value() or "", Q()))


class ByBatch(admin.SimpleListFilter):
    """A filter for actions requested together, shown to those who come from there."""

    title = _("batch")
    parameter_name = "batch"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[Any]:
        given = request.GET.get(self.parameter_name)
        return [(given, gettext("Requested together"))] if given else []

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
    for_merchants = (
        "payer reason kind proposed_by decided_by shown_amount shown_state how_it_went note code turn batch state"
    )
    row_actions = (DECIDE,)
    list_display = ("payer", "reason", "kind", "proposed_by", "decided_by", "shown_amount", "shown_state", "created")
    file_columns: Sequence[str] = (
        *("created", "shown_state", "kind", "shown_amount"),
        *("charge_link", "reason", "proposed_by", "decided_by"),
    )
    list_filter = (
        ByTurn,
        ByBatch,
        one_of("state", STATES),
        one_of("kind", OperatorAction.KINDS),
        by_mode_of("charge"),
        "created_at",
    )
    sum_of = ("amount", "currency")
    search_fields: ClassVar[Any] = ("reason", "note")
    search = IdSearch(
        {**OF_CHARGE, "": "pk", "req": "pk", "mer": "merchant_id", "attempt": "attempt_id"},
        objects="charge_id",
        last4="charge__source__card__last4",
    )
    fieldsets = (
        (None, {"fields": ("shown_state", "how_it_went", "kind", "shown_amount", "charge_link")}),
        (_("Requested"), {"fields": ("reason", "proposed_by", "created", "shown_limit", "expires")}),
        (_("Decided"), {"fields": ("note", "decided_by", "decided")}),
        (_("Done"), {"fields": ("attempt_link", "code", "updated")}),
    )
    how_it_went = column(_("How it went"), lambda act: result(act)[1])

    def consequence_of(self, row: OperatorAction) -> Any:
        return consequence_of(ACTIONS[row.kind], row.charge, row.amount)

    def moves_of(self, row: OperatorAction) -> Iterable[Move]:
        return HEADLINES[ACTIONS[row.kind]].moves(row.charge, row.amount)

    def question(self, row: OperatorAction) -> str:
        return headline_of(ACTIONS[row.kind], row.charge, row.amount)

    def why_it_waits(self, row: OperatorAction) -> str:
        text = gettext("It waits because {person} gives back {amount} of a charge alone.")
        alone = money(row.limit, row.currency) if row.limit else gettext("nothing")
        return text.format(person=row.proposed_by, amount=alone)

    def facts_of(self, row: OperatorAction) -> Facts:
        yield from refund_facts(row)
        yield _("Open until"), f"{moment_text(row.expires_at)}"

    def in_words(self, row: OperatorAction) -> str:
        return in_few_words(row)

    def result(self, row: OperatorAction) -> Message:
        return result(row)

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        """Return the results of a batch so far."""
        acts = of_batch(self.get_queryset(request), request.GET.get("batch"))
        states = sorted({act.state for act in acts})
        text = "; ".join(f"{gettext(state)} {sums_of(act for act in acts if act.state == state)}" for state in states)
        return {"subtitle": text}


class WaitingRequests(Part):
    """The requests to move a charge's money that wait, on its page, with the decisions of who may."""

    for_merchants = True

    def buttons(self, page: Any, request: HttpRequest, row: Charge) -> list[ActionButton]:
        return [
            ActionButton(f"{act.label}: {what_moves(asked)}", act.url)
            for asked in self._of(page, row)
            for act in acts_on(page, request, asked)
        ]

    def beside_row(self, page: Any, request: HttpRequest, row: Charge) -> dict[str, Any]:
        seen = [
            asked
            for asked in self._of(page, row)
            if page.admin_site.get_model_admin(asked.shown_as).has_view_permission(request)
        ]
        return {"waiting": [(capfirst(what_moves(asked)), asked) for asked in seen]}

    def _of(self, page: Any, charge: Charge) -> QuerySet[Any]:
        # Those of the staff are not shown to merchants' people.
        seen = {} if page.policy.is_for_operators else {"proposed_by__is_staff": False}
        rows = ApprovalRequest.objects.proposed().filter(charge=charge, kind__in=EXECUTED, **seen)
        return rows.select_related("charge__source__card", "proposed_by").order_by("pk")
