"""One action on many charges, chosen from their list."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID, uuid5

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from payments.admin.columns import UNNAMED
from payments.admin.framework.actions import Done, OnChosen, Result
from payments.admin.framework.formats import NOTHING, money
from payments.admin.framework.object_actions import Buttons, Facts, Move, operator_of
from payments.admin.framework.reason_form import OnceForm
from payments.admin.operators.words import ACTIONS, FINAL, HEADLINES
from payments.domain.approvals.kinds.charge_actions import fill_in
from payments.domain.approvals.request import submit
from payments.domain.charging.verbs import EXTEND, RELEASE
from payments.models import Charge, OperatorAction, Payout
from payments.models.charging.shown_states import state_of

# The most rows left out that a message names.
SHOWN = 10
State = OperatorAction.State


class Chosen(list[Charge]):
    """Charges, with what of the action on them is possible, and why the rest is left out."""

    possible: Sequence[OperatorAction]
    left_out: Sequence[Move]


class ActTogether(OnChosen):
    """An action on the whole of each charge: a worker does it, or it is to be approved."""

    form = OnceForm
    for_merchants = True

    def __init__(self, kind: str) -> None:
        self.kind, self.verb = kind, ACTIONS[kind]
        self.name, self.label, self.permission = f"{kind}_together", self.verb.label, self.verb.permission

    def fits(self, row: Charge) -> bool:
        # Whether a provider extends a hold is a query, which a list does not make for each of its rows.
        return bool((RELEASE if self.verb is EXTEND else self.verb).most(row))

    def possible(self, page: Any, request: HttpRequest, rows: QuerySet[Any]) -> Any:
        found = super().possible(page, request, rows.select_related("merchant", "source__card"))
        if not found:
            return None
        chosen = Chosen(found)
        chosen.possible, chosen.left_out = _preview(_acts(self.kind, chosen, operator_of(request)))
        if chosen.possible:
            return chosen
        text = _("None of these can be done: {action}.").format(action=self.verb.label.lower())
        page.message_user(request, text, messages.ERROR)
        return None

    def question(self, row: Chosen) -> str:
        count = len(row.possible)
        title = ngettext("{action}, {count} charge?", "{action}, {count} charges?", count)
        return title.format(action=self._does_it(row), count=count)

    def _does_it(self, row: Chosen) -> str:
        return str(HEADLINES[self.verb].does_it).format(amount=total_of(row.possible))

    def choices(self, row: Chosen, form: forms.Form, operator: User) -> Buttons:
        return [(self.name, self._does_it(row))]

    def notice(self, row: Chosen, operator: User) -> Any:
        others = _("If one of them fails, the others are done, and the next page says which.")
        return others if self.verb is EXTEND else f"{FINAL} {others}"

    def facts(self, row: Chosen) -> Facts:
        if waiting := [act for act in row.possible if act.state == State.PROPOSED]:
            yield _("Done by a worker in a moment"), sums_of(act for act in row.possible if act not in waiting)
            yield _("Needs approval"), sums_of(waiting)

    def seen(self, page: Any, request: HttpRequest, row: Chosen, form: forms.Form) -> dict[str, Any]:
        total = Move(_("In all"), total_of(row.possible), _("Each as a whole"), is_now=True)
        stay = _("{count} of the {all} that you chose stay as they are.").format(count=len(row.left_out), all=len(row))
        return super().seen(page, request, row, form) | {
            "facts": list(self.facts(row)),
            "moves": [*map(_move, row.possible), total],
            "stays": row.left_out,
            "hint": stay if row.left_out else "",
        }

    def do(self, row: Chosen, cleaned: dict[str, Any]) -> Done:
        """Record each by itself, so that one that became impossible stops no other."""
        batch, left_out = cleaned["row_id"], []
        for act in _acts(self.kind, row, cleaned["operator"], batch, cleaned["reason"]):
            try:
                submit(act)
            except ValidationError as error:
                left_out.append(f"{_named(act)}: {_why(act, error)}")
        where = f"{reverse('admin:payments_operatoraction_changelist')}?batch={batch}"
        return Result("", where, warning=said_left_out(left_out))


TOGETHER = [ActTogether(kind) for kind in ACTIONS]


def said_left_out(left_out: Sequence[str]) -> str:
    """Return which of the chosen rows are left out, and why; "" for none."""
    return f"{_('Left out')}: {len(left_out)}. {' '.join(left_out[:SHOWN])}" if left_out else ""


def sums_of(acts: Iterable[OperatorAction | Payout]) -> str:
    """Return their number and their sum by currency."""
    acts = list(acts)
    return f"{len(acts)}: {total_of(acts)}" if acts else NOTHING


def total_of(acts: Iterable[OperatorAction | Payout]) -> str:
    """Return their sum by currency."""
    sums: Counter[str] = Counter()
    for act in acts:
        sums[act.currency] += act.amount
    return ", ".join(money(amount, currency) for currency, amount in sorted(sums.items()))


def _acts(kind: str, charges: Iterable[Charge], operator: User, batch: UUID | None = None, reason: str = "") -> Any:
    """Yield an action on the whole of each charge, with the same IDs if the form is sent again."""
    for charge in charges:
        act = OperatorAction(charge=charge, kind=kind, proposed_by=operator, batch=batch, reason=reason)
        act.amount, act.currency = ACTIONS[kind].most(charge), charge.currency
        act.id = uuid5(batch, charge.id.hex) if batch else act.id
        yield act


def _preview(acts: Iterable[OperatorAction]) -> tuple[list[OperatorAction], list[Move]]:
    """Return the possible ones of `acts`, and why the others are not."""
    possible, left_out = [], []
    for act in acts:
        try:
            fill_in(act, act.charge)
            possible.append(act)
        except ValidationError as error:
            charge = act.charge
            left_out.append(Move(_named(act), money(charge.amount, charge.currency), _why(act, error)))
    return possible, left_out


def _move(act: OperatorAction) -> Move:
    what_for = ", ".join(filter(None, (act.charge.description, act.charge.merchant.title)))
    return Move(_named(act), money(act.amount, act.currency), what_for)


def _named(act: OperatorAction) -> str:
    return str(act.charge.source.payer_name or UNNAMED)


def _why(act: OperatorAction, error: ValidationError) -> str:
    return " ".join(map(_, error.messages)) if act.amount else str(state_of(act.charge).title)
