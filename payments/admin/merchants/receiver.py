"""A merchant's default notify URLs, and a test event that an operator sends to its receiver."""

from typing import Any

from django import forms
from django.db import transaction

from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.framework.row_actions import Done, RowAction
from payments.admin.merchants.api_keys import MODE_CHOICES
from payments.admin.merchants.fees import MAY_CHANGE
from payments.domain.merchants import notify_urls
from payments.domain.merchants.merchants import MODES
from payments.domain.webhooks.test_event import NotSent, result_text, send_test_event
from payments.models import Merchant
from payments.webhooks.transport.results import Answer
from payments.webhooks.transport.urls import ForbiddenUrl

URL_MAX_LENGTH = 2083


class TestEventForm(ReasonForm):
    url = forms.CharField(
        label="URL", max_length=URL_MAX_LENGTH, help_text="Of the receiver, as in `redirect.notify` of a source."
    )
    mode = forms.ChoiceField(choices=MODE_CHOICES, help_text="Whose secret signs, and which addresses are allowed.")


class NotifyUrlForm(ReasonForm):
    test = forms.CharField(label="Test mode", max_length=URL_MAX_LENGTH, required=False)
    live = forms.CharField(label="Live mode", max_length=URL_MAX_LENGTH, required=False, help_text="https only.")


class SetNotifyUrls(RowAction):
    name, label = "set_notify_urls", "Set the notify URLs"
    permission = MAY_CHANGE
    refusals = (ForbiddenUrl,)

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        return NotifyUrlForm(data, initial=merchant.notify_urls)

    def facts(self, merchant: Merchant) -> Facts:
        yield "Merchant", merchant.title
        yield "What happens", "Events from now on go there whose source has no notify URL of its own. Empty: to no URL."

    @transaction.atomic
    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        changed = [mode for mode in MODES if cleaned[mode] != merchant.notify_urls.get(mode, "")]
        for mode in changed:
            notify_urls.set_default(merchant, cleaned[mode], MODES[mode])
        return f"The notify URL of {' and '.join(changed)} mode is changed." if changed else "Nothing was changed."


class SendTestEvent(RowAction):
    name, label = "send_test_event", "Send a test event"
    permission = MAY_CHANGE
    refusals = (NotSent, ForbiddenUrl)

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        return TestEventForm(data, initial={"url": merchant.notify_urls.get("test", "")})

    def field_of(self, refusal: Exception, form: forms.Form) -> str | None:
        return "url" if isinstance(refusal, ForbiddenUrl) else None

    def facts(self, merchant: Merchant) -> Facts:
        yield "Merchant", merchant.title
        yield "What happens", "A signed charge.created about a charge that does not exist is sent once, now."

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        result = send_test_event(merchant, cleaned["url"], MODES[cleaned["mode"]])
        proper = "properly" if isinstance(result, Answer) and result.is_proper else "and must answer 2xx"
        return f"The receiver {result_text(result)} after {result.milliseconds} ms, {proper}."
