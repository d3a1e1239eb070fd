"""Calls of assistants: a person decides each, unless the key's own rule lets the amount through."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from payments import clock
from payments.domain.approvals.executors import Credentials, Executor, in_brief, register
from payments.domain.approvals.limits import lets_through, limit_of
from payments.domain.approvals.verbs import PAYOUT, VERBS, call_of
from payments.domain.catalogue.error_table import RESOURCE_BUSY
from payments.domain.merchants.assistants import Rule, caller_of, may_act, require_may_act
from payments.domain.operators.four_eyes import Refused
from payments.domain.shared.errors import conflict
from payments.models import ApiKey, ApprovalRequest, AssistantCall

State = ApprovalRequest.State
# Of one assistant, so that it does not flood the list that people decide.
OPEN_CALLS_MAX = 20


def key_of(request: ApprovalRequest) -> ApiKey:
    """Return the key that a call was asked for by, as it is now."""
    return ApiKey.objects.select_related("merchant").get(id=UUID(request.after["key"]))


def _prepare(request: ApprovalRequest, _: Credentials) -> None:
    # Without this lock, two calls at the same time would not count each other: towards the day, and as open ones.
    User.objects.select_for_update(no_key=True).get(id=request.proposed_by_id)
    # A call that waited for the lock past midnight is one of the new day.
    request.created_at = clock.now()
    key = key_of(request)
    call = call_of(request)
    # The cache of keys may be a second late.
    require_may_act(key, call.tool)
    if VERBS[call.tool].plan(caller_of(key), call).amount != request.amount:
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
    if request.verb == PAYOUT.name and not decider.has_perm(PAYOUT.permission):
        raise Refused("Only people who may pay out approve this, such as kaha's finance.")
    # Of this key, or of one before or after it: who has seen the text may have sent the call.
    is_own = ApiKey.objects.filter(asks_as=request.proposed_by_id, issued_by=decider.pk).exists()
    if is_own and request.amount > (limit_of(decider, request.currency) or 0):
        raise Refused("You issued its key, and this is more than you may give back alone. Another person must.")
    return State.APPROVED


register(AssistantCall.KINDS, Executor(in_brief, _prepare, _approve))
