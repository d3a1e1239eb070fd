"""The pages of an action on one charge: a form, a confirmation, and then it is done or requested."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import NOTHING, link, money, short_id, source_label
from payments.admin.framework.object_actions import ActionButton, Facts, form_page, operator_of
from payments.admin.framework.reason_form import OnceForm
from payments.admin.operators.words import ACTIONS, REFUND_REASONS, consequence_of, refund_facts, result
from payments.domain.approvals.kinds.charge_actions import fill_in
from payments.domain.approvals.request import submit
from payments.domain.charging.verbs import REFUND
from payments.domain.operators.duplicates import duplicates_of
from payments.models import Charge, OperatorAction
from payments.money import parse_amount, plain_amount, shown_amount

CONFIRMED = "confirm"
SENT_BEFORE = _("This form was sent before, and is carried out once.")


class AmountField(forms.CharField):
    """A field for an amount of `currency` as people write it, between `least` and `most` in its smallest unit."""

    def __init__(self, currency: str, most: int, least: int = 1, **options: Any) -> None:
        widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "class": "vTextField"})
        help_text = gettext("In {currency}, {amount} at most.")
        help_text = help_text.format(currency=currency, amount=plain_amount(most, currency))
        super().__init__(widget=widget, help_text=help_text, **options)
        self.currency, self.most, self.least = currency, most, least

    def clean(self, value: Any) -> int:
        try:
            amount = parse_amount(super().clean(value), self.currency)
        except ValueError:
            text = gettext("Write an amount such as {amount}.").format(amount=plain_amount(123450, self.currency))
            raise ValidationError(text) from None
        if not self.least <= amount <= self.most:
            text = gettext("Write an amount above 0, up to {amount}.")
            raise ValidationError(text.format(amount=shown_amount(self.most, self.currency)))
        return amount


class ActForm(OnceForm):
    """A form for one kind of action on one charge. The amount is at first all there is."""

    def __init__(self, kind: str, charge: Charge, data: Any = None) -> None:
        super().__init__(data)
        self.kind, self.charge, self.most = kind, charge, ACTIONS[kind].most(charge)
        if ACTIONS[kind].in_parts:
            initial = plain_amount(self.most, charge.currency)
            self.fields["amount"] = AmountField(charge.currency, self.most, initial=initial, label=_("Amount"))
            self.order_fields(["amount"])
        if kind == REFUND.name:
            self.fields["refund_reason"] = forms.ChoiceField(
                label=_("Reason"),
                choices=list(REFUND_REASONS.items()),
                initial="duplicate" if data is None and duplicates_of(charge) else None,
                required=False,
                help_text=_("The merchant and the provider see it."),
            )
            self.order_fields(["amount", "refund_reason"])

    def act(self, operator: User) -> OperatorAction:
        """Return the form's values as an unsaved action."""
        return OperatorAction(
            id=self.cleaned_data["row_id"],
            charge=self.charge,
            kind=self.kind,
            amount=self.cleaned_data.get("amount", self.most),
            currency=self.charge.currency,
            reason=self.cleaned_data["reason"],
            after={"reason": chosen} if (chosen := self.cleaned_data.get("refund_reason")) else {},
            proposed_by=operator,
        )

    def hide_fields(self) -> None:
        """Hide all fields, for the page that asks to confirm."""
        for field in self.fields.values():
            field.widget = forms.HiddenInput()


def act_on_charge(request: HttpRequest, pk: UUID, kind: str, page: admin.ModelAdmin) -> HttpResponse:
    """Ask how much and why, ask to confirm, then carry the action out or request its approval.

    It does not run inside a transaction of the view.
    """
    operator = operator_of(request)
    if not operator.has_perm(ACTIONS[kind].permission):
        raise PermissionDenied
    charge = get_object_or_404(page.get_queryset(request).select_related("merchant", "source__card"), pk=pk)
    form = ActForm(kind, charge, request.POST or None)
    if not form.most:
        return _left(request, page, pk, messages.WARNING, _("The charge does not allow this, or no longer."))
    if not form.is_valid():
        return _ask(request, page, form)
    act = form.act(operator)
    return _do(request, page, act) if request.POST.get("decision") == CONFIRMED else _confirm(request, page, form, act)


def _ask(request: HttpRequest, page: admin.ModelAdmin, form: ActForm) -> HttpResponse:
    title, facts = ACTIONS[form.kind].label, _facts_of(form.charge, form.most)
    return form_page(request, page, title, facts, form, [("continue", _("Continue"))], None, form.charge)


def _confirm(request: HttpRequest, page: admin.ModelAdmin, form: ActForm, act: OperatorAction) -> HttpResponse:
    try:
        fill_in(act, form.charge)
    except ValidationError as error:
        form.add_error(None, list(map(gettext, error.messages)))
        return _ask(request, page, form)
    form.hide_fields()
    verb = ACTIONS[form.kind]
    is_done_alone = act.state == OperatorAction.State.APPROVED
    buttons = [
        (
            CONFIRMED,
            verb.label if is_done_alone else gettext("Request approval: {action}").format(action=verb.label.lower()),
        )
    ]
    consequence = consequence_of(verb, act.charge, act.amount)
    return form_page(request, page, f"{verb.label}?", _confirmed_facts(act), form, buttons, consequence, act.charge)


def _do(request: HttpRequest, page: admin.ModelAdmin, act: OperatorAction) -> HttpResponse:
    if OperatorAction.objects.filter(id=act.id).exists():
        return _left(request, page, act.charge.pk, messages.WARNING, SENT_BEFORE)
    try:
        submit(act)
    except ValidationError as error:
        return _left(request, page, act.charge.pk, messages.ERROR, " ".join(map(gettext, error.messages)))
    return _left(request, page, act.charge.pk, *result(act))


def _left(request: HttpRequest, page: admin.ModelAdmin, pk: UUID, level: int, text: Any) -> HttpResponse:
    page.message_user(request, text, level)
    return redirect("admin:payments_charge_change", pk)


def offers_of(request: HttpRequest, charge: Charge) -> Iterable[ActionButton]:
    """Yield the buttons of the actions that this operator may carry out on the charge now."""
    for verb in ACTIONS.values():
        if operator_of(request).has_perm(verb.permission) and verb.most(charge):
            address = reverse(f"admin:payments_charge_{verb.name}", args=[charge.pk])
            yield ActionButton(verb.label, address, gives_back=verb.outward)


def _facts_of(charge: Charge, most: int) -> Facts:
    yield _("Charge"), link(Charge, charge.pk, short_id(str(charge)))
    yield _("Merchant"), charge.merchant
    yield _("Mode"), _("live") if charge.livemode else _("test")
    yield _("Paid with"), source_label(charge.source)
    yield _("Description"), charge.description or NOTHING
    yield _("Amount"), money(charge.amount, charge.currency)
    yield _("At most"), money(most, charge.currency)


def _confirmed_facts(act: OperatorAction) -> Facts:
    yield _("Charge"), short_id(str(act.charge))
    yield _("Mode"), _("live: this is real money") if act.charge.livemode else _("test")
    yield from refund_facts(act)
    yield _("Why"), act.reason
    if act.state == OperatorAction.State.PROPOSED:
        text = gettext("You give back {amount} of a charge alone. Another person must approve this.")
        alone = money(act.limit, act.currency) if act.limit else gettext("nothing")
        yield _("Approval"), text.format(amount=alone)
