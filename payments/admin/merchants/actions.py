"""What operators do about a merchant: payment methods, limits, webhook secrets, and test events."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import sourcetypes
from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.form_fields import MODE_CHOICES, WholeNumberField, overlap_field
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.reason_form import OnceForm, ReasonForm
from payments.admin.merchants.fees import MAY_CHANGE
from payments.domain.merchants import merchants, terms
from payments.domain.merchants.merchants import MODES
from payments.domain.operators.four_eyes import Refused
from payments.domain.risk import decline_limits
from payments.domain.webhooks.test_event import NotSent, result_text, send_test_event
from payments.models import ApprovalRequest, Merchant
from payments.webhooks.transport.results import Answer
from payments.webhooks.transport.urls import ForbiddenUrl

URL_MAX_LENGTH = 2083
TYPE_CHOICES = [(kind.name, kind.label) for kind in sourcetypes.SOURCE_TYPES]


def _types_field(mode: str) -> forms.MultipleChoiceField:
    widget = forms.CheckboxSelectMultiple({"class": "radiolist"})
    return forms.MultipleChoiceField(label=f"Taken in {mode} mode", choices=TYPE_CHOICES, required=False, widget=widget)


class PaymentMethodsForm(ReasonForm):
    test, live = _types_field("test"), _types_field("live")


class SetPaymentMethods(Action):
    name, label = "set_payment_methods", "Set payment methods"
    permission = MAY_CHANGE
    what_happens = "New sources of other types are refused in that mode. Those made before can be charged."

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        return PaymentMethodsForm(
            data, initial={mode: _taken_by(merchant, livemode) for mode, livemode in MODES.items()}
        )

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


class SetDeclineBudget(Action):
    name, label = "set_decline_budget", "Set the decline budget"
    permission = MAY_CHANGE
    refusals = (decline_limits.BadBudget,)
    what_happens = "After so many declines in a window, in each mode, more charges on cards are refused."

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        return BudgetForm(data, initial={"budget": merchant.decline_budget})

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        decline_limits.set_budget(merchant, cleaned["budget"])
        return f"From now on {cleaned['budget'] or 'the usual number of'} declines are allowed."


class SecretForm(OnceForm):
    mode = forms.ChoiceField(label=_("Mode"), choices=MODE_CHOICES)
    hours = overlap_field(_("How long the old secret signs too. An earlier end that it has stays; 0 ends it now."))


class RollWebhookSecret(Action):
    name, label = "roll_webhook_secret", _("Roll the webhook secret")
    permission = "payments.add_webhooksecret"
    form = SecretForm

    what_happens = _(
        "A new secret signs its webhooks at once and is shown once; the old one signs too during the overlap."
    )

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        overlap = timedelta(hours=cleaned["hours"])
        text = merchants.roll_webhook_secret(merchant, MODES[cleaned["mode"]], overlap, cleaned["row_id"])
        return {gettext("Webhook secret, {mode} mode").format(mode=gettext(cleaned["mode"])): text}


class TestEventForm(ReasonForm):
    url = forms.CharField(
        label="URL", max_length=URL_MAX_LENGTH, help_text="Of the receiver, as in `redirect.notify` of a source."
    )
    mode = forms.ChoiceField(choices=MODE_CHOICES, help_text="Whose secret signs, and which addresses are allowed.")


class SendTestEvent(Action):
    name, label = "send_test_event", "Send a test event"
    permission = MAY_CHANGE
    refusals = (NotSent, ForbiddenUrl)
    what_happens = "A signed charge.created about a charge that does not exist is sent once, now."

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        return TestEventForm(data)

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        result = send_test_event(merchant, cleaned["url"], MODES[cleaned["mode"]])
        proper = "properly" if isinstance(result, Answer) and result.is_proper else "and must answer 2xx"
        return f"The receiver {result_text(result)} after {result.milliseconds} ms, {proper}."


class MoveForm(OnceForm):
    rows = WholeNumberField(required=False, min_value=1, help_text="How many the file of an import has.")
    digest = forms.RegexField("^([0-9a-f]{64}|[0-9A-F]{40})$", help_text="The file's SHA-256, or an export's key.")


class MoveCustomers(Action):
    name, label = "move_customers", "Move customers"
    permission = MAY_CHANGE
    form = MoveForm
    refusals = (Refused,)
    what_happens = "Once approved, a command may import this very file of live cards, or export them for this key."

    def notice(self, merchant: Merchant, operator: User) -> Any:
        return approval_notice("An administrator other than you approves this.", operator, merchant)

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        asked = {name: cleaned[name] for name in ("rows", "digest") if cleaned[name]}
        return submitted(merchant, ApprovalRequest.Kind.MOVE_CUSTOMERS, cleaned, asked)


def method_lines(merchant: Merchant) -> Iterator[str]:
    """Yield the types that the merchant takes, a line for each mode."""
    for mode, livemode in MODES.items():
        taken = [sourcetypes.BY_NAME[name].label for name in _taken_by(merchant, livemode)]
        every = len(taken) == len(sourcetypes.NAMES)
        yield f"{gettext(mode)}: {gettext('every type') if every else ', '.join(taken) or gettext('none')}"


def _taken_by(merchant: Merchant, livemode: bool) -> list[str]:
    switches = merchant.payment_method_settings
    return [name for name in sourcetypes.NAMES if terms.is_enabled(switches, name, livemode)]
