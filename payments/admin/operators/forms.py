"""What operators type for an act on a charge: how much, and why."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from payments.admin.framework.reason_form import OnceForm
from payments.domain.operators.amount_at_stake import IN_PARTS, at_stake
from payments.models import Charge, StaffAct
from payments.money import format_amount, parse_amount, plain_amount


class AmountField(forms.CharField):
    """An amount as people write it, of at least `least` in the smallest unit of `currency` and `most` at most."""

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
    """An act of one kind on one charge. Its amount is what there is, until somebody writes another."""

    def __init__(self, kind: str, charge: Charge, data: Any = None) -> None:
        super().__init__(data)
        self.kind, self.charge, self.most = kind, charge, at_stake(kind, charge)
        if kind in IN_PARTS:
            initial = plain_amount(self.most, charge.currency)
            self.fields["amount"] = AmountField(charge.currency, self.most, initial=initial)
            self.order_fields(["amount"])

    def act(self, operator: User) -> StaffAct:
        """What was typed, as an act that is not on record yet."""
        return StaffAct(
            id=self.cleaned_data["row_id"],
            charge=self.charge,
            kind=self.kind,
            amount=self.cleaned_data.get("amount", self.most),
            currency=self.charge.currency,
            reason=self.cleaned_data["reason"],
            proposed_by=operator,
        )

    def keep_out_of_sight(self) -> None:
        """Shows nothing that can be changed any more, for whoever is asked to confirm."""
        for field in self.fields.values():
            field.widget = forms.HiddenInput()
