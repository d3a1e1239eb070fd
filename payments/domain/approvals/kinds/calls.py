"""Calls of assistants: a person decides each, unless the key's own rule lets the amount through."""

from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Sum

from payments import clock
from payments.domain.approvals.call_plans import Call, caller_of, plan
from payments.domain.approvals.executors import Credentials, Executor, register
from payments.domain.merchants.assistants import Rule
from payments.domain.operators.four_eyes import Refused
from payments.domain.shared.errors import conflict
from payments.models import ApiKey, ApprovalRequest, AssistantCall
from payments.money import shown_amount

State = ApprovalRequest.State
# Of one assistant, so that it does not flood the list that people decide.
OPEN_CALLS_MAX = 20


def lets_through(key: ApiKey, tool: str, amount: int, currency: str) -> bool:
    """Return whether the key's rule lets a call move `amount` with no person, beside what moved so today (UTC)."""
    rule = Rule.of(key.rules, tool)
    if rule is None or rule.currency != currency or amount > rule.each:
        return False
    midnight = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    by_rule = AssistantCall.objects.filter(proposed_by=key.asks_as_id, created_at__gte=midnight, decided_by=None)
    moved = by_rule.filter(after__tool=tool, currency=currency, state__in=(State.APPROVED, State.DONE))
    total: int = moved.aggregate(total=Sum("amount", default=0))["total"]
    return total + amount <= rule.day


def describe(request: ApprovalRequest) -> str:
    """Return a summary such as "refund of ₱1,250.00, ch_…"."""
    about = filter(None, [request.after["about"], request.after.get("made", "")])
    return ", ".join([f"{request.after['tool']} of {shown_amount(request.amount, request.currency)}", *about])


def _prepare(request: ApprovalRequest, _: Credentials) -> None:
    # Without this lock, two calls at the same time would not count each other: towards the day, and as open ones.
    User.objects.select_for_update(no_key=True).get(id=request.proposed_by_id)
    key = ApiKey.objects.get(id=UUID(request.after["key"]))
    call = Call(request.after["tool"], request.after["about"], request.after["body"])
    if plan(caller_of(key), call).amount != request.amount:
        raise conflict("resource_busy", "What this moves has just changed. Call the tool again.")
    if key.revoked_at is None and lets_through(key, call.tool, request.amount, request.currency):
        request.limit, request.state = Rule(**key.rules[call.tool]).each, State.APPROVED
        return
    if AssistantCall.objects.filter(proposed_by=request.proposed_by_id).proposed().count() >= OPEN_CALLS_MAX:
        raise Refused(f"{OPEN_CALLS_MAX} calls wait for a person already. Wait for a decision.")


register(AssistantCall.KINDS, Executor(describe, _prepare, lambda *_: State.APPROVED))
