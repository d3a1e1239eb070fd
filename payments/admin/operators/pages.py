"""The pages of an action on one charge: a form, a confirmation, and then it is done or requested."""

from collections.abc import Iterable
from functools import partial
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse

from payments.admin.framework.formats import NOTHING, link, money, source_label
from payments.admin.framework.object_actions import ActionButton, Facts, form_page, operator_of
from payments.admin.operators.forms import ActForm
from payments.admin.operators.words import ACTIONS, result
from payments.domain.operators import execute
from payments.domain.operators.amounts import max_amount
from payments.domain.operators.request import prepare, propose
from payments.ids import public_id
from payments.models import Charge, OperatorAction

CONFIRMED = "confirm"
SENT_BEFORE = "This form was sent before, and is carried out once."


class ActPages(admin.ModelAdmin):
    """A page for each action, for the ModelAdmin of charges. None runs inside a transaction of the view."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        ours = [
            path(f"<uuid:pk>/{kind}/", view(partial(self.act, kind=kind)), name=f"payments_charge_{kind}")
            for kind in ACTIONS
        ]
        return [*ours, *super().get_urls()]

    def act(self, request: HttpRequest, pk: UUID, kind: str) -> HttpResponse:
        """Ask how much and why, ask to confirm, then carry the action out or request its approval."""
        operator = operator_of(request)
        if not operator.has_perm(ACTIONS[kind].permission):
            raise PermissionDenied
        charge = get_object_or_404(self.get_queryset(request).select_related("merchant", "source__card"), pk=pk)
        form = ActForm(kind, charge, request.POST or None)
        if not form.most:
            return self._left(request, pk, messages.WARNING, "The charge does not allow this, or no longer.")
        if not form.is_valid():
            return self._ask(request, form)
        act = form.act(operator)
        return (
            self._do(request, act) if request.POST.get("decision") == CONFIRMED else self._confirm(request, form, act)
        )

    def _ask(self, request: HttpRequest, form: ActForm) -> HttpResponse:
        title = ACTIONS[form.kind].label
        return form_page(request, self, title, _facts_of(form.charge, form.most), form, [("continue", "Continue")])

    def _confirm(self, request: HttpRequest, form: ActForm, act: OperatorAction) -> HttpResponse:
        try:
            prepare(act, form.charge)
        except ValidationError as error:
            form.add_error(None, error.messages)
            return self._ask(request, form)
        form.hide_fields()
        words = ACTIONS[form.kind]
        button = (
            words.label if act.state == OperatorAction.State.APPROVED else f"Request approval: {words.label.lower()}"
        )
        consequence = words.consequence(act.charge, act.amount)
        return form_page(
            request, self, f"{words.label}?", _confirmed_facts(act), form, [(CONFIRMED, button)], consequence
        )

    def _do(self, request: HttpRequest, act: OperatorAction) -> HttpResponse:
        if OperatorAction.objects.filter(id=act.id).exists():
            return self._left(request, act.charge_id, messages.WARNING, SENT_BEFORE)
        try:
            propose(act)
        except ValidationError as error:
            return self._left(request, act.charge_id, messages.ERROR, " ".join(error.messages))
        if act.state == OperatorAction.State.APPROVED:
            execute.execute_action(act)
        return self._left(request, act.charge_id, *result(act))

    def _left(self, request: HttpRequest, pk: UUID, level: int, text: str) -> HttpResponse:
        self.message_user(request, text, level)
        return redirect("admin:payments_charge_change", pk)


def offers_of(request: HttpRequest, charge: Charge) -> Iterable[ActionButton]:
    """Yield the buttons of the actions that this operator may carry out on the charge now."""
    for kind, words in ACTIONS.items():
        if operator_of(request).has_perm(words.permission) and max_amount(kind, charge):
            address = reverse(f"admin:payments_charge_{kind}", args=[charge.pk])
            yield ActionButton(words.label, address, gives_back=words.gives_back)


def _facts_of(charge: Charge, most: int) -> Facts:
    yield "Charge", link(Charge, charge.pk, public_id("ch", charge.pk))
    yield "Merchant", charge.merchant
    yield "Mode", "live" if charge.livemode else "test"
    yield "Paid with", source_label(charge.source)
    yield "Description", charge.description or NOTHING
    yield "Amount", money(charge.amount, charge.currency)
    yield "At most", money(most, charge.currency)


def _confirmed_facts(act: OperatorAction) -> Facts:
    yield "Charge", public_id("ch", act.charge_id)
    yield "Mode", "live: this is real money" if act.charge.livemode else "test"
    yield "Why", act.reason
    if act.state == OperatorAction.State.PROPOSED:
        alone = money(act.limit, act.currency) if act.limit else "nothing"
        yield "Approval", f"You give back {alone} of a charge alone. Another person must approve this."
