"""What operators do about a merchant: fees, payment methods, limits and webhook secrets."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.db import transaction

from payments import sourcetypes
from payments.admin.framework.formats import money, shown_rate
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import OnceForm, ReasonForm
from payments.admin.framework.row_actions import Done, RowAction
from payments.admin.merchants.api_keys import MODE_CHOICES, overlap_field
from payments.domain.merchants import merchants, terms
from payments.domain.merchants.merchants import MODES
from payments.domain.risk import decline_limits
from payments.ledger.fees import BadRate, Rate, rate_of
from payments.models import AMOUNT_MAX, Merchant
from payments.money import CURRENCIES, DEFAULT_CURRENCY, parse_amount

MAY_CHANGE = "payments.change_merchant"
TYPE_CHOICES = [(kind.name, kind.label) for kind in sourcetypes.SOURCE_TYPES]


class FeeForm(ReasonForm):
    source_type = forms.ChoiceField(label="Type", choices=TYPE_CHOICES)
    currency = forms.ChoiceField(choices=[(code, code) for code in sorted(CURRENCIES)], initial=DEFAULT_CURRENCY)
    percent = forms.DecimalField(
        label="Share in per cent", min_value=Decimal(0), max_value=Decimal(100), decimal_places=2, initial="0.00"
    )
    fixed = forms.CharField(label="Fixed amount", initial="0", help_text="Such as 15.00, in the currency.")

    def clean(self) -> dict[str, Any]:
        said = super().clean() or self.cleaned_data
        if {"currency", "percent", "fixed"} <= said.keys():
            try:
                said["rate"] = Rate(int(said["percent"] * 100), parse_amount(said["fixed"], said["currency"]))
            except BadRate:
                self.add_error("fixed", f"This must be at most {money(AMOUNT_MAX, said['currency'])}.")
            except ValueError as fault:
                self.add_error("fixed", f"This is {fault}.")
        return said


class SetFee(RowAction):
    name, label = "set_fee", "Set a fee"
    permission = MAY_CHANGE
    form = FeeForm
    refusals = (terms.BadTerms,)

    def facts(self, merchant: Merchant) -> Facts:
        yield from _fees_of(merchant)
        yield "What happens", "Charges made from now on cost this; those made before keep their rate."

    def do(self, merchant: Merchant, said: dict[str, Any]) -> Done:
        terms.set_fee(merchant, said["source_type"], said["currency"], said["rate"])
        cost = shown_rate(said["rate"], said["currency"])
        return f"From now on a charge on {said['source_type']} in {said['currency']} costs {cost}."


class FeeToRemoveForm(ReasonForm):
    fee = forms.ChoiceField()


class RemoveFee(RowAction):
    name, label = "remove_fee", "Remove a fee"
    permission = MAY_CHANGE
    refusals = (terms.BadTerms,)

    def fits(self, merchant: Merchant) -> bool:
        return bool(merchant.rates)

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        form = FeeToRemoveForm(data)
        fee: Any = form.fields["fee"]
        fee.choices = [(name, name) for name, _ in _fees_of(merchant)]
        return form

    def facts(self, merchant: Merchant) -> Facts:
        yield from _fees_of(merchant)
        yield "What happens", "Charges made from now on cost nothing; those made before keep their rate."

    def do(self, merchant: Merchant, said: dict[str, Any]) -> Done:
        terms.remove_fee(merchant, *said["fee"].split(" in "))
        return f"From now on a charge on {said['fee']} costs nothing."


def _types_field(mode: str) -> forms.MultipleChoiceField:
    widget = forms.CheckboxSelectMultiple({"class": "radiolist"})
    return forms.MultipleChoiceField(label=f"Taken in {mode} mode", choices=TYPE_CHOICES, required=False, widget=widget)


class PaymentMethodsForm(ReasonForm):
    test, live = _types_field("test"), _types_field("live")


class SetPaymentMethods(RowAction):
    name, label = "set_payment_methods", "Set payment methods"
    permission = MAY_CHANGE

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        return PaymentMethodsForm(
            data, initial={mode: _taken_by(merchant, livemode) for mode, livemode in MODES.items()}
        )

    def facts(self, merchant: Merchant) -> Facts:
        yield "Merchant", merchant.title
        yield ("What happens", "New sources of other types are refused in that mode. Those made before can be charged.")

    @transaction.atomic
    def do(self, merchant: Merchant, said: dict[str, Any]) -> Done:
        switched = [
            (mode, name) for mode in MODES for name in sorted({*said[mode]} ^ {*_taken_by(merchant, MODES[mode])})
        ]
        for mode, name in switched:
            terms.set_payment_method(merchant, name, name in said[mode], MODES[mode])
        text = ", ".join(f"{name} ({mode})" for mode, name in switched)
        return f"Switched: {text}." if text else "Nothing was switched."


class BudgetForm(ReasonForm):
    budget = forms.IntegerField(
        label="Declines", required=False, min_value=1, max_value=decline_limits.BUDGET_MAX, help_text="Empty: as usual."
    )


class SetDeclineBudget(RowAction):
    name, label = "set_decline_budget", "Set the decline budget"
    permission = MAY_CHANGE
    refusals = (decline_limits.BadBudget,)

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        return BudgetForm(data, initial={"budget": merchant.decline_budget})

    def facts(self, merchant: Merchant) -> Facts:
        yield "Merchant", merchant.title
        yield "What happens", "After so many declines in a window, in each mode, more charges on cards are refused."

    def do(self, merchant: Merchant, said: dict[str, Any]) -> Done:
        decline_limits.set_budget(merchant, said["budget"])
        return f"From now on {said['budget'] or 'the usual number of'} declines are allowed."


class SecretForm(OnceForm):
    mode = forms.ChoiceField(choices=MODE_CHOICES)
    hours = overlap_field("How long the old secret signs too. An earlier end that it has stays; 0 ends it now.")


class RollWebhookSecret(RowAction):
    name, label = "roll_webhook_secret", "Roll the webhook secret"
    permission = "payments.add_webhooksecret"
    form = SecretForm

    def facts(self, merchant: Merchant) -> Facts:
        yield "Merchant", merchant.title
        yield (
            "What happens",
            "A new secret signs its webhooks at once and is shown once; the old one signs too during the overlap.",
        )

    def do(self, merchant: Merchant, said: dict[str, Any]) -> Done:
        overlap = timedelta(hours=said["hours"])
        text = merchants.roll_webhook_secret(merchant, MODES[said["mode"]], overlap, said["row_id"])
        return {f"Webhook secret, {said['mode']} mode": text}


def _fees_of(merchant: Merchant) -> Facts:
    for source_type, by_currency in merchant.rates.items():
        for currency in by_currency:
            rate = rate_of(merchant.rates, source_type, currency)
            yield f"{source_type} in {currency}", shown_rate(rate, currency)


def _taken_by(merchant: Merchant, livemode: bool) -> list[str]:
    switches = merchant.payment_method_settings
    return [name for name in sourcetypes.NAMES if terms.is_enabled(switches, name, livemode)]
