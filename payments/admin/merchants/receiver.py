"""A merchant's default notify URLs, and a test event that an operator sends to its receiver."""

from typing import Any

from django import forms
from django.db import transaction

from payments import context
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.framework.row_actions import Done, RowAction
from payments.admin.merchants.api_keys import MODE_CHOICES
from payments.admin.merchants.fees import MAY_CHANGE
from payments.connections import release_connection
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.bulkheads import Slots
from payments.domain.merchants import notify_urls
from payments.domain.merchants.merchants import MODES, valid_webhook_secrets
from payments.domain.webhooks import receiver_check
from payments.models import Merchant
from payments.webhooks.transport.results import Answer
from payments.webhooks.transport.urls import ForbiddenUrl, check_notify_url

URL_MAX_LENGTH = 2083
# A receiver may take all of its ten seconds, and a process has few threads.
UNDER_WAY = Slots(1)


class NotSent(Exception):
    """Nothing was sent; the message says why."""


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
    def do(self, merchant: Merchant, said: dict[str, Any]) -> Done:
        changed = [mode for mode in MODES if said[mode] != merchant.notify_urls.get(mode, "")]
        for mode in changed:
            notify_urls.set_default(merchant, said[mode], MODES[mode])
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

    def do(self, merchant: Merchant, said: dict[str, Any]) -> Done:
        livemode = MODES[said["mode"]]
        check_notify_url(said["url"], livemode)
        secrets = valid_webhook_secrets(merchant, livemode)
        if not secrets:
            raise NotSent("The merchant has no webhook secret in this mode. Roll it first.")
        if not UNDER_WAY.take("all"):
            raise NotSent("Another test event is under way. Try again in some seconds.")
        try:
            release_connection()
            context.begin_wait()
            result = receiver_check.send_one(said["url"], livemode, secrets).result
        finally:
            UNDER_WAY.give_back("all")
        answer = f"answered {result.status}" if isinstance(result, Answer) else f"did not answer: {result.kind}"
        audit_log.record(Action.TESTED, merchant, detail=f"a test event of {said['mode']} mode: {answer}")
        proper = "properly" if isinstance(result, Answer) and result.is_proper else "and must answer 2xx"
        return f"The receiver {answer} after {result.milliseconds} ms, {proper}."
