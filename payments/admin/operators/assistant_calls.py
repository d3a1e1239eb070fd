"""Calls of assistants that move money, and the decisions on them."""

import json
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.filters import one_of
from payments.admin.framework.formats import column, link, money, money_column, row_link_column, short_id
from payments.admin.framework.id_search import OF_CHARGE, IdSearch
from payments.admin.framework.object_actions import Consequence, Facts
from payments.admin.moments import moment_text
from payments.admin.operators.decisions import DecidedByAnother, decisions_on
from payments.admin.operators.requests import STATES
from payments.admin.operators.words import Message, in_few_words, result
from payments.domain.approvals.execution import execute_action
from payments.models import ApiKey, AssistantCall, Charge, Merchant

State = AssistantCall.State
# The words of the tools that actions on charges do not have.
WORDS = (_("charge"), _("link"), _("request"), _("payout"))
CAREFUL = _(
    "An assistant asks, perhaps because of a text that somebody else wrote. Look at the payment itself, and approve "
    "only what you would do on your own."
)


@admin.register(AssistantCall)
class AssistantCallAdmin(DecidedByAnother):
    decisions = decisions_on(AssistantCall, "payments.refund_charge", _("Approve and execute"))
    list_display: Any = ("what", "reason", "merchant", "decided_by", "shown_amount", "shown_state", "created")
    file_columns = ("created", "shown_state", "shown_amount", "reason", "proposed_by", "decided_by")
    list_filter: ClassVar[Any] = (one_of("state", STATES), "created_at")
    search_fields: ClassVar[Any] = ("reason", "note")
    search = IdSearch({**OF_CHARGE, "": "pk", "apr": "pk", "mer": "merchant_id"}, objects="charge_id")
    fieldsets = (
        (None, {"fields": ("shown_state", "how_it_went", "shown_amount", "charge_link", "arguments")}),
        (_("Requested"), {"fields": ("reason", "proposed_by", "key", "created", "shown_limit", "expires")}),
        (_("Decided"), {"fields": ("note", "decided_by", "decided", "updated")}),
    )
    shown_limit = money_column("limit")
    charge_link = row_link_column("charge", Charge)
    how_it_went = column(_("How it went"), lambda call: said(call)[1])
    arguments = column(_("Arguments"), lambda call: json.dumps(call.after["body"], ensure_ascii=False))
    key = column(_("Key"), lambda call: link(ApiKey, call.after["key"], gettext("Key")))

    def mode_of(self, row: AssistantCall) -> str:
        return "live" if row.livemode else "test"

    def consequence_of(self, row: AssistantCall) -> Consequence:
        return Consequence(CAREFUL, gives_back=row.after["tool"] in ("void", "refund", "payout"))

    def facts_of(self, row: AssistantCall) -> Facts:
        yield _("Merchant"), link(Merchant, row.merchant_id, row.merchant.title)
        if row.charge:
            yield _("Charge"), link(Charge, row.charge.pk, short_id(str(row.charge)))
            yield _("Captured"), money(row.charge.amount_captured, row.charge.currency)
            yield _("Refunded so far"), money(row.charge.amount_refunded, row.charge.currency)
        yield _("Amount"), money(row.amount, row.currency)
        yield _("Arguments"), json.dumps(row.after["body"], ensure_ascii=False)
        yield _("Key"), _key_of(row)
        yield _("Requested by"), f"{row.proposed_by}, {moment_text(row.created_at)}"
        yield _("Why"), row.reason
        yield _("Open until"), f"{moment_text(row.expires_at)}"

    def in_words(self, row: AssistantCall) -> str:
        return in_few_words(row)

    def after_decision(self, row: AssistantCall) -> None:
        if row.state == State.APPROVED:
            execute_action(row)

    def result(self, row: AssistantCall) -> Message:
        return said(row)


def _key_of(call: AssistantCall) -> str:
    key = ApiKey.objects.get(id=call.after["key"])
    ended = gettext("revoked") if key.revoked_at else gettext("expired")
    return f"{key.name} {key}: {gettext('in use') if key.works else ended}".strip()


def said(call: AssistantCall) -> Message:
    """Return the result of a call, as a level of Django's messages and a sentence."""
    # What is no charge asks no provider: it is made.
    if call.state == State.DONE and call.charge_id is None:
        return messages.SUCCESS, gettext("Done: {what}.").format(what=in_few_words(call))
    return result(call)
