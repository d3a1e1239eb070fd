"""What operators do about a merchant: payment methods, limits and webhook secrets."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django import forms
from django.db import transaction

from payments import sourcetypes
from payments.admin.form_fields import WholeNumberField
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import OnceForm, ReasonForm
from payments.admin.framework.row_actions import Done, RowAction
from payments.admin.merchants.api_keys import MODE_CHOICES, overlap_field
from payments.admin.merchants.fees import MAY_CHANGE
from payments.domain.merchants import merchants, terms
from payments.domain.merchants.merchants import MODES
from payments.domain.risk import decline_limits
from payments.models import Merchant

TYPE_CHOICES = [(kind.name, kind.label) for kind in sourcetypes.SOURCE_TYPES]


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
    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        switched = [
            (mode, name) for mode in MODES for name in sorted({*cleaned[mode]} ^ {*_taken_by(merchant, MODES[mode])})
        ]
        for mode, name in switched:
            terms.set_payment_method(merchant, name, name in cleaned[mode], MODES[mode])
        text = ", ".join(f"{name} ({mode})" for mode, name in switched)
        return f"Switched: {text}." if text else "Nothing was switched."


class BudgetForm(ReasonForm):
    budget = WholeNumberField(
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

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        decline_limits.set_budget(merchant, cleaned["budget"])
        return f"From now on {cleaned['budget'] or 'the usual number of'} declines are allowed."


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

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        overlap = timedelta(hours=cleaned["hours"])
        text = merchants.roll_webhook_secret(merchant, MODES[cleaned["mode"]], overlap, cleaned["row_id"])
        return {f"Webhook secret, {cleaned['mode']} mode": text}


def method_lines(merchant: Merchant) -> Iterator[str]:
    """Yield the types that the merchant takes, a line for each mode."""
    for mode, livemode in MODES.items():
        taken = [sourcetypes.BY_NAME[name].label for name in _taken_by(merchant, livemode)]
        every = len(taken) == len(sourcetypes.NAMES)
        yield f"{mode}: {'every type' if every else ', '.join(taken) or 'none'}"


def _taken_by(merchant: Merchant, livemode: bool) -> list[str]:
    switches = merchant.payment_method_settings
    return [name for name in sourcetypes.NAMES if terms.is_enabled(switches, name, livemode)]
