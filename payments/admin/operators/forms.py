"""The form of an action on a charge: how much, and why."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from payments.admin.framework.reason_form import OnceForm
from payments.domain.operators.amounts import IN_PARTS, max_amount
from payments.models import Charge, OperatorAction
from payments.money import format_amount, parse_amount, plain_amount


class AmountField(forms.CharField):
    """A field for an amount of `currency` as people write it, between `least` and `most` in its smallest unit."""

    def __init__(self, currency: str, most: int, least: int = 1, **options: Any) -> None:
        widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "class": "vTextField"})
        help_text = f"In {currency}, {plain_amount(most, currency)} at most."
        super().__init__(widget=widget, help_text=help_text, **options)
        self.currency, self.most, self.least = currency, most, least

    def clean(self, value: Any) -> int:
        try:
            amount = parse_amount(super().clean(value), self.currency)
        except ValueError:
            raise ValidationError(f"Write an amount such as {plain_amount(123450, self.currency)}.") from None
        if not self.least <= amount <= self.most:
            raise ValidationError(f"Write an amount above 0, up to {format_amount(self.most, self.currency)}.")
        return amount


class ActForm(OnceForm):
    """A form for one kind of action on one charge. The amount is at first all there is."""

    def __init__(self, kind: str, charge: Charge, data: Any = None) -> None:
        super().__init__(data)
        self.kind, self.charge, self.most = kind, charge, max_amount(kind, charge)
        if kind in IN_PARTS:
            initial = plain_amount(self.most, charge.currency)
            self.fields["amount"] = AmountField(charge.currency, self.most, initial=initial)
            self.order_fields(["amount"])

    def act(self, operator: User) -> OperatorAction:
        """Return the form's values as an unsaved action."""
        return OperatorAction(
            id=self.cleaned_data["row_id"],
            charge=self.charge,
            kind=self.kind,
            amount=self.cleaned_data.get("amount", self.most),
            currency=self.charge.currency,
            reason=self.cleaned_data["reason"],
            proposed_by=operator,
        )

    def hide_fields(self) -> None:
        """Hide all fields, for the page that asks to confirm."""
        for field in self.fields.values():
            field.widget = forms.HiddenInput()
