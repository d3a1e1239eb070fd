"""One action on many charges, chosen from their list."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from uuid import UUID, uuid5

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from payments.admin.framework.formats import NOTHING, lines, money
from payments.admin.framework.object_actions import Consequence, form_page, operator_of
from payments.admin.framework.reason_form import OnceForm
from payments.admin.operators.words import ACTIONS
from payments.domain.approvals.kinds.charge_actions import fill_in
from payments.domain.approvals.request import submit
from payments.ids import public_id
from payments.models import Charge, OperatorAction, Payout

MOST = 100
# The most rows left out that the message names.
SHOWN = 10
CONFIRMED = "confirm"
State = OperatorAction.State


class BulkForm(OnceForm):
    """A form with one reason for all; it sends the selection along."""

    def __init__(self, data: Any, action: str, chosen: Sequence[str]) -> None:
        super().__init__(data)
        self.fields["action"] = forms.CharField(initial=action, widget=forms.HiddenInput)
        self.fields[ACTION_CHECKBOX_NAME] = forms.Field(initial=chosen, widget=forms.MultipleHiddenInput)


def bulk_actions(request: HttpRequest) -> dict[str, Any]:
    """Return the actions offered on chosen rows of the list of charges."""
    may, text = operator_of(request).has_perm, _("{action}, each as a whole")
    return {
        f"{kind}_together": (
            partial(_act, kind=kind),
            f"{kind}_together",
            text.format(action=verb.label),
        )
        for kind, verb in ACTIONS.items()
        if may(verb.permission)
    }


def chosen_of(page: admin.ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> list[Any]:
    """Return the chosen rows; none, and say so, where they are too many at once."""
    chosen = list(rows[: MOST + 1])
    if len(chosen) <= MOST:
        return chosen
    text = _("These are more than {count}. Choose fewer at once.").format(count=MOST)
    page.message_user(request, text, messages.ERROR)
    return []


def say_left_out(page: admin.ModelAdmin, request: HttpRequest, left_out: Sequence[str]) -> None:
    """Say which of the chosen rows are left out, and why."""
    if left_out:
        page.message_user(request, f"{_('Left out')}: {len(left_out)}. {' '.join(left_out[:SHOWN])}", messages.WARNING)


def sums_of(acts: Iterable[OperatorAction | Payout]) -> str:
    """Return their number and their sum by currency."""
    acts = list(acts)
    sums: Counter[str] = Counter()
    for act in acts:
        sums[act.currency] += act.amount
    text = ", ".join(money(amount, currency) for currency, amount in sorted(sums.items()))
    return f"{len(acts)}: {text}" if acts else NOTHING


def _act(page: admin.ModelAdmin, request: HttpRequest, rows: QuerySet[Any], kind: str) -> HttpResponse | None:
    """Show a preview and ask why; then record each, to be done by a worker or to be approved."""
    charges = chosen_of(page, request, rows.select_related("merchant", "source__card"))
    if not charges:
        return None
    data = request.POST if "row_id" in request.POST else None
    form = BulkForm(data, f"{kind}_together", [str(charge.pk) for charge in charges])
    if form.is_valid() and request.POST.get("decision") == CONFIRMED:
        batch, reason = form.cleaned_data["row_id"], form.cleaned_data["reason"]
        return _propose_each(page, request, _acts(kind, charges, operator_of(request), batch, reason))
    possible, left_out = _preview(_acts(kind, charges, operator_of(request)))
    verb = ACTIONS[kind]
    if not possible:
        page.message_user(
            request, _("None of these can be done: {action}.").format(action=verb.label.lower()), messages.ERROR
        )
        return None
    title = ngettext("{action}: {count} charge", "{action}: {count} charges", len(charges))
    title, buttons = title.format(action=verb.label, count=len(charges)), [(CONFIRMED, verb.label)]
    text = _("{action}, each as a whole: {sums}.").format(action=verb.label, sums=sums_of(possible))
    consequence = Consequence(text, verb.outward)
    facts = [
        (_("Done by a worker in a moment"), sums_of(act for act in possible if act.state == State.APPROVED)),
        (_("Needs approval"), sums_of(act for act in possible if act.state == State.PROPOSED)),
        (_("Left out"), lines(left_out)),
    ]
    return form_page(request, page, title, facts, form, buttons, consequence)


def _acts(kind: str, charges: Iterable[Charge], operator: User, batch: UUID | None = None, reason: str = "") -> Any:
    """Yield an action on the whole of each charge, with the same IDs if the form is sent again."""
    for charge in charges:
        act = OperatorAction(charge=charge, kind=kind, proposed_by=operator, batch=batch, reason=reason)
        act.amount, act.currency = ACTIONS[kind].most(charge), charge.currency
        act.id = uuid5(batch, charge.id.hex) if batch else act.id
        yield act


def _preview(acts: Iterable[OperatorAction]) -> tuple[list[OperatorAction], list[str]]:
    """Return the possible ones of `acts`, and why the others are not."""
    possible, left_out = [], []
    for act in acts:
        try:
            fill_in(act, act.charge)
            possible.append(act)
        except ValidationError as error:
            left_out.append(_why(act, error))
    return possible, left_out


def _propose_each(page: admin.ModelAdmin, request: HttpRequest, acts: Iterable[OperatorAction]) -> HttpResponse:
    """Record each by itself, so that one that became impossible stops no other."""
    batch, left_out = None, []
    for act in acts:
        batch = act.batch
        try:
            submit(act)
        except ValidationError as error:
            left_out.append(_why(act, error))
    say_left_out(page, request, left_out)
    return HttpResponseRedirect(f"{reverse('admin:payments_operatoraction_changelist')}?batch={batch}")


def _why(act: OperatorAction, error: ValidationError) -> str:
    return f"{public_id('ch', act.charge.pk)}: {' '.join(map(_, error.messages))}"
