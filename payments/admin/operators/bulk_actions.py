"""One act on many charges, chosen from their list: what it comes to before, and where it is seen how it went."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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

from payments.admin.framework.formats import NOTHING, lines, money
from payments.admin.framework.object_actions import Consequence, Facts, form_page, operator_of
from payments.admin.framework.reason_form import OnceForm
from payments.admin.operators.words import OFFERED
from payments.domain.operators.amount_at_stake import at_stake
from payments.domain.operators.request import prepare, propose
from payments.ids import public_id
from payments.models import Charge, StaffAct

MOST = 100
# Of those left out, so many are named where it has been done.
SHOWN = 10
CONFIRMED = "confirm"
State = StaffAct.State


class TogetherForm(OnceForm):
    """Why, for all of them; what was chosen comes along."""

    def __init__(self, data: Any, action: str, chosen: Sequence[str]) -> None:
        super().__init__(data)
        self.fields["action"] = forms.CharField(initial=action, widget=forms.HiddenInput)
        self.fields[ACTION_CHECKBOX_NAME] = forms.Field(initial=chosen, widget=forms.MultipleHiddenInput)


@dataclass(frozen=True)
class Summary:
    """What an act on many charges comes to: those that are possible, and why the others are not."""

    possible: Sequence[StaffAct]
    left_out: Sequence[str]

    def facts(self) -> Facts:
        alone = [act for act in self.possible if act.state == State.APPROVED]
        asked = [act for act in self.possible if act.state == State.PROPOSED]
        yield "Done by a worker in a moment", sums_of(alone)
        yield "Asked of a second person", sums_of(asked)
        yield "Left out", lines(self.left_out)


class ActsTogether(admin.ModelAdmin):
    """The acts offered above the list of charges."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        may = operator_of(request).has_perm
        return {
            f"{kind}_together": (partial(_act, kind=kind), f"{kind}_together", f"{words.label}, each as a whole")
            for kind, words in OFFERED.items()
            if may(words.permission)
        }


def sums_of(acts: Iterable[StaffAct]) -> str:
    """How many they are, and how much money by currency."""
    acts = list(acts)
    sums: Counter[str] = Counter()
    for act in acts:
        sums[act.currency] += act.amount
    told = ", ".join(money(amount, currency) for currency, amount in sorted(sums.items()))
    return f"{len(acts)}: {told}" if acts else NOTHING


def _act(page: admin.ModelAdmin, request: HttpRequest, rows: QuerySet[Any], kind: str) -> HttpResponse | None:
    """Shows what it comes to and asks why; then each is done by a worker, or put before a second person."""
    charges = list(rows.select_related("merchant", "source__card")[: MOST + 1])
    if len(charges) > MOST:
        page.message_user(request, f"These are more than {MOST}. Choose fewer at once.", messages.ERROR)
        return None
    data = request.POST if "row_id" in request.POST else None
    form = TogetherForm(data, f"{kind}_together", [str(charge.pk) for charge in charges])
    if form.is_valid() and request.POST.get("decision") == CONFIRMED:
        return _propose_all(page, request, _acts(kind, charges, operator_of(request), **_said(form)))
    summary, label = _look_at(_acts(kind, charges, operator_of(request))), OFFERED[kind].label
    if not summary.possible:
        page.message_user(request, f"None of these can be done: {label.lower()}.", messages.ERROR)
        return None
    title, consequence = f"{label}: {len(charges)} charges", _consequence(kind, summary)
    return form_page(request, page, title, summary.facts(), form, [(CONFIRMED, label)], consequence)


def _consequence(kind: str, summary: Summary) -> Consequence:
    words = OFFERED[kind]
    return Consequence(f"{words.label}, each as a whole: {sums_of(summary.possible)}.", words.gives_back)


def _said(form: TogetherForm) -> dict[str, Any]:
    return {"reason": form.cleaned_data["reason"], "batch": form.cleaned_data["row_id"]}


def _acts(kind: str, charges: Iterable[Charge], operator: User, batch: UUID | None = None, reason: str = "") -> Any:
    """An act on the whole of each charge. The same form sent again makes none that is not on record."""
    for charge in charges:
        act = StaffAct(charge=charge, kind=kind, proposed_by=operator, batch=batch, reason=reason)
        act.amount, act.currency = at_stake(kind, charge), charge.currency
        act.id = uuid5(batch, charge.id.hex) if batch else act.id
        yield act


def _look_at(acts: Iterable[StaffAct]) -> Summary:
    possible, left_out = [], []
    for act in acts:
        try:
            prepare(act, act.charge)
            possible.append(act)
        except ValidationError as error:
            left_out.append(_why(act, error))
    return Summary(possible, left_out)


def _propose_all(page: admin.ModelAdmin, request: HttpRequest, acts: Iterable[StaffAct]) -> HttpResponse:
    """Puts each on record by itself, so that one that is not possible any more holds up no other."""
    batch, left_out = None, []
    for act in acts:
        batch = act.batch
        try:
            propose(act)
        except ValidationError as error:
            left_out.append(_why(act, error))
    if left_out:
        page.message_user(request, f"Left out: {len(left_out)}. {' '.join(left_out[:SHOWN])}", messages.WARNING)
    return HttpResponseRedirect(f"{reverse('admin:payments_staffact_changelist')}?batch={batch}")


def _why(act: StaffAct, error: ValidationError) -> str:
    return f"{public_id('ch', act.charge_id)}: {' '.join(error.messages)}"
