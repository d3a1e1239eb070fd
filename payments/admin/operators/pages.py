"""Actions on one charge: a page says what moves, and then it is done or requested."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.actions import DECISION, Action, Done, Result
from payments.admin.framework.formats import money
from payments.admin.framework.object_actions import Facts, operator_of
from payments.admin.framework.reason_form import OnceForm
from payments.admin.operators.words import (
    ACTIONS,
    HEADLINES,
    REFUND_REASONS,
    consequence_of,
    headline_of,
    payment_facts,
    result,
)
from payments.domain.approvals.kinds.charge_actions import fill_in
from payments.domain.approvals.limits import limit_of
from payments.domain.approvals.request import submit
from payments.domain.charging.verbs import REFUND
from payments.domain.operators.duplicates import duplicates_of
from payments.ids import new_id
from payments.models import Charge, OperatorAction
from payments.money import parse_amount, plain_amount, shown_amount

# The button that shows what another sum would move.
UPDATE = "update"


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

    @property
    def amount(self) -> int:
        """The amount that was typed, where it is right; all there is otherwise."""
        typed: int = getattr(self, "cleaned_data", {}).get("amount", self.most)
        return typed

    def act(self, operator: User) -> OperatorAction:
        """Return the form's values as an unsaved action; before it is sent, without its reason."""
        typed = getattr(self, "cleaned_data", {})
        return OperatorAction(
            id=typed.get("row_id") or new_id(),
            charge=self.charge,
            kind=self.kind,
            amount=self.amount,
            currency=self.charge.currency,
            reason=typed.get("reason", ""),
            after={"reason": chosen} if (chosen := typed.get("refund_reason")) else {},
            proposed_by=operator,
        )


class ActOnCharge(Action):
    """An action on one charge: how much and why, what moves, and it is done, or its approval requested."""

    form = ActForm
    for_merchants = True
    refusals = (ValidationError,)
    makes = (OperatorAction,)
    sent_before = _("This form was sent before, and is carried out once.")
    over = _("The charge does not allow this, or no longer.")

    def __init__(self, kind: str) -> None:
        self.name, self.verb = kind, ACTIONS[kind]
        self.label, self.permission, self.gives_back = self.verb.label, self.verb.permission, self.verb.outward

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Charge:
        charge: Charge = get_object_or_404(page.get_queryset(request).select_related("merchant", "source__card"), pk=pk)
        return charge

    def fits(self, row: Charge) -> bool:
        return bool(self.verb.most(row))

    def is_offered_to(self, operator: User, row: Charge) -> bool:
        return not OperatorAction.objects.proposed().filter(charge=row, kind=self.name).exists()

    def form_for(self, row: Charge, data: Any) -> ActForm:
        return ActForm(self.name, row, data)

    def is_confirmed(self, request: HttpRequest, form: Any) -> bool:
        """Return whether the button that was pressed named the sum that moves."""
        return request.POST.get(DECISION, UPDATE) != UPDATE and request.POST.get("shown") == str(form.amount)

    def facts(self, row: Charge) -> Facts:
        """Yield nothing: what is to know of the payment stands beside the form."""
        return ()

    def seen(self, page: Any, request: HttpRequest, row: Charge, form: Any) -> dict[str, Any]:
        operator, said = operator_of(request), HEADLINES[self.verb]
        is_alone = self._is_alone(form, operator)
        button = said.does_it if is_alone else gettext("Ask for approval of {amount}")
        return super().seen(page, request, row, form) | {
            "title": headline_of(self.verb, row, form.amount, asks=not is_alone),
            "hint": "" if is_alone else _another_decides(operator, row),
            "beside": payment_facts(row),
            "moves": list(said.moves(row, form.amount)),
            "notice": consequence_of(self.verb, row, form.amount),
            "buttons": [(self.name, button.format(amount=money(form.amount, row.currency)))],
            "sum": form.amount,
            "updates": "amount" if "amount" in form.fields else "",
        }

    def do(self, row: Charge, cleaned: dict[str, Any]) -> Done:
        act = cleaned["form"].act(cleaned["operator"])
        submit(act)
        level, text = result(act)
        return Result(text, level=level)

    def _is_alone(self, form: ActForm, operator: User) -> bool:
        """Return whether this person does it without another; also where it is refused, which is said then."""
        act = form.act(operator)
        try:
            fill_in(act, form.charge)
        except ValidationError:
            return True
        return act.state == OperatorAction.State.APPROVED


def _another_decides(operator: User, charge: Charge) -> str:
    text = gettext("You give back {amount} of a charge alone. Another person must approve this.")
    limit = limit_of(operator, charge.currency)
    alone = money(limit, charge.currency) if limit else gettext("nothing")
    return f"{text.format(amount=alone)} {gettext('Until then nothing moves.')}"


ON_ONE = [ActOnCharge(kind) for kind in ACTIONS]
