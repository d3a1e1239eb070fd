"""Calls of assistants: a person decides each, unless the key's own rule lets the amount through."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Sum

from payments import clock
from payments.domain.approvals.call_plans import Call, caller_of, plan
from payments.domain.approvals.executors import Credentials, Executor, register
from payments.domain.catalogue.error_table import KEY_REVOKED, RESOURCE_BUSY
from payments.domain.merchants.assistants import Rule, may_act
from payments.domain.operators.four_eyes import Refused, limit_of
from payments.domain.shared.errors import conflict
from payments.models import ApiKey, ApprovalRequest, AssistantCall
from payments.money import shown_amount

State = ApprovalRequest.State
# Of one assistant, so that it does not flood the list that people decide.
OPEN_CALLS_MAX = 20
MAKE_PAYOUT = "payments.make_payout"
KEY_ENDED = "The key does not work any more."


def lets_through(key: ApiKey, tool: str, amount: int, currency: str, at: datetime) -> bool:
    """Return whether the key's rule lets a call move `amount` with no person, beside what moved so that day (UTC)."""
    rule = Rule.of(key.rules, tool)
    if rule is None or rule.currency != currency or amount > rule.each:
        return False
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    by_rule = AssistantCall.objects.filter(proposed_by=key.asks_as_id, created_at__gte=midnight, decided_by=None)
    moved = by_rule.filter(after__tool=tool, currency=currency, state__in=(State.APPROVED, State.DONE))
    total: int = moved.aggregate(total=Sum("amount", default=0))["total"]
    return total + amount <= rule.day


def key_of(request: ApprovalRequest) -> ApiKey:
    """Return the key that a call was asked for by, as it is now."""
    return ApiKey.objects.select_related("merchant").get(id=UUID(request.after["key"]))


def describe(request: ApprovalRequest) -> str:
    """Return a summary such as "refund of ₱1,250.00, ch_…"."""
    about = filter(None, [request.after["about"], request.after.get("made", "")])
    return ", ".join([f"{request.after['tool']} of {shown_amount(request.amount, request.currency)}", *about])


def _prepare(request: ApprovalRequest, _: Credentials) -> None:
    # Without this lock, two calls at the same time would not count each other: towards the day, and as open ones.
    User.objects.select_for_update(no_key=True).get(id=request.proposed_by_id)
    # A call that waited for the lock past midnight is one of the new day.
    request.created_at = clock.now()
    key = key_of(request)
    call = Call(request.after["tool"], request.after["about"], request.after["body"])
    # The cache of keys may be a second late.
    if not may_act(key, call.tool):
        raise conflict(KEY_REVOKED, KEY_ENDED)
    if plan(caller_of(key), call).amount != request.amount:
        raise conflict(RESOURCE_BUSY, "What this moves has just changed. Call the tool again.")
    if lets_through(key, call.tool, request.amount, request.currency, request.created_at):
        request.limit, request.state = Rule(**key.rules[call.tool]).each, State.APPROVED
        return
    if AssistantCall.objects.filter(proposed_by=request.proposed_by_id).proposed().count() >= OPEN_CALLS_MAX:
        raise Refused(f"{OPEN_CALLS_MAX} calls wait for a person already. Wait for a decision.")


def _approve(request: ApprovalRequest, _: Credentials) -> State:
    decider: Any = request.decided_by
    if not may_act(key_of(request), request.after["tool"]):
        raise Refused("Its key does not work any more. Reject it.")
    if request.after["tool"] == "payout" and not decider.has_perm(MAKE_PAYOUT):
        raise Refused("Only people who may pay out approve this, such as kaha's finance.")
    # Of this key, or of one before or after it: who has seen the text may have sent the call.
    is_own = ApiKey.objects.filter(asks_as=request.proposed_by_id, issued_by=decider.pk).exists()
    if is_own and request.amount > (limit_of(decider, request.currency) or 0):
        raise Refused("You issued its key, and this is more than you may give back alone. Another person must.")
    return State.APPROVED


register(AssistantCall.KINDS, Executor(describe, _prepare, _approve))
