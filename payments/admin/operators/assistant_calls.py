"""Calls of assistants that move money, and the decisions on them."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.filters import one_of
from payments.admin.framework.formats import NOTHING, beside, column, lines, link, money
from payments.admin.framework.id_search import OF_CHARGE, IdSearch
from payments.admin.framework.object_actions import Facts, Move
from payments.admin.operators.call_words import arguments_of, consequence_of, made_by, plan_facts, rule_words
from payments.admin.operators.decisions import Decide, DecidedByAnother, Decision
from payments.admin.operators.requests import STATES
from payments.admin.operators.words import ACTIONS, HEADLINES, Message, about, headline_of, in_few_words, named, result
from payments.admin.shown_times import moment_text
from payments.domain.approvals.verbs import PAYOUT
from payments.domain.charging.verbs import REFUND
from payments.models import ApiKey, AssistantCall, Charge, Merchant

State = AssistantCall.State


class DecideCall(Decide):
    def fitting(self, operator: User, row: AssistantCall) -> list[Decision]:
        """Return the decisions that are for this person; a payout is approved by people who may make one."""
        may_approve = row.verb != PAYOUT.name or operator.has_perm(PAYOUT.permission)
        return [each for each in super().fitting(operator, row) if may_approve or each.name != "approve"]


@admin.register(AssistantCall)
class AssistantCallAdmin(DecidedByAnother):
    for_merchants = (
        "what reason by_whom shown_amount shown_state proposed_by how_it_went about_charge made arguments key note "
        "state"
    )
    row_actions = (DecideCall(REFUND.permission, _("Approve and execute")),)
    list_display: Any = ("what", "reason", "merchant", "by_whom", "shown_amount", "shown_state", "created")
    file_columns = ("created", "shown_state", "shown_amount", "reason", "proposed_by", "by_whom")
    list_filter: ClassVar[Any] = (one_of("state", STATES), "created_at")
    search_fields: ClassVar[Any] = ("reason", "note")
    search = IdSearch({**OF_CHARGE, "": "pk", "apr": "pk", "mer": "merchant_id"}, objects="charge_id")
    fieldsets = (
        (None, {"fields": ("shown_state", "how_it_went", "shown_amount", "about_charge", "made", "arguments")}),
        (_("Requested"), {"fields": ("reason", "key", "created", "expires")}),
        (_("Decided"), {"fields": ("note", "by_whom", "decided", "updated")}),
    )
    about_charge = column(_("Charge"), lambda call: link(Charge, call.charge_id, about(call)))
    made = column(_("Made"), made_by)
    how_it_went = column(_("How it went"), lambda call: said(call)[1])
    arguments = column(
        _("Asked for"),
        lambda call: lines(format_html("{}: {}", *each) for each in arguments_of(call, _key_of(call))),
    )
    key = column(_("Key"), lambda call: _shown_key(_key_of(call)))
    by_whom = column(
        _("Decided by"),
        lambda call: call.decided_by or (NOTHING if call.limit is None else gettext("the key's rule")),
    )

    def mode_of(self, row: AssistantCall) -> str:
        return "live" if row.livemode else "test"

    @admin.display(description=_("What"))
    def what(self, row: AssistantCall) -> str:
        return beside(capfirst(named(row.verb)), about(row))

    def headline(self, row: AssistantCall) -> str:
        return capfirst(self.in_words(row))

    def question(self, row: AssistantCall) -> str:
        verb = ACTIONS.get(row.verb)
        if verb and row.charge:
            return headline_of(verb, row.charge, row.amount)
        return f"{capfirst(self.in_words(row))}?"

    def consequence_of(self, row: AssistantCall) -> Any:
        return consequence_of(row)

    def moves_of(self, row: AssistantCall) -> Iterable[Move]:
        verb = ACTIONS.get(row.verb)
        return HEADLINES[verb].moves(row.charge, row.amount) if verb and row.charge else ()

    def why_it_waits(self, row: AssistantCall) -> str:
        return gettext("It waits because the key's rule lets an assistant do less alone.")

    def facts_of(self, row: AssistantCall) -> Facts:
        key = _key_of(row)
        yield _("Merchant"), link(Merchant, row.merchant_id, row.merchant.title)
        yield _("Amount"), money(row.amount, row.currency)
        yield from plan_facts(row, key)
        yield from arguments_of(row, key)
        yield _("Key"), _shown_key(key)
        if rule := key.rules.get(row.verb):
            yield _("Its rule"), lines(rule_words({row.verb: rule}))
        yield _("Open until"), moment_text(row.expires_at)

    def in_words(self, row: AssistantCall) -> str:
        return in_few_words(row)

    def result(self, row: AssistantCall) -> Message:
        return said(row)


def _key_of(call: AssistantCall) -> ApiKey:
    return ApiKey.objects.get(id=call.after["key"])


def _shown_key(key: ApiKey) -> object:
    ended = gettext("revoked") if key.revoked_at else gettext("expired")
    state = gettext("in use") if key.works else ended
    return format_html("{}: {}", link(ApiKey, key.pk, f"{key.name} {key}".strip()), state)


def said(call: AssistantCall) -> Message:
    """Return the result of a call, as a level of Django's messages and a sentence."""
    # What is no charge asks no provider: it is made.
    if call.state == State.DONE and call.charge_id is None:
        return messages.SUCCESS, gettext("Done: {what}.").format(what=in_few_words(call))
    return result(call)
