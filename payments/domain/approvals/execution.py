"""Execution of approved actions and calls by the API's verbs, at most once: each has its own idempotency key.

Where a process dies, the action stays approved, and the sweep gets the same answer with the same key.
"""

import hashlib
from collections.abc import Callable
from datetime import timedelta

from django.db.models import Q

from payments import clock
from payments.domain.approvals import calls
from payments.domain.approvals.executors import move
from payments.domain.bulkheads import ProviderBusy
from payments.domain.catalogue.error_table import IDEMPOTENCY_KEY_IN_USE
from payments.domain.charging import operations
from payments.domain.charging.outcome_rules import refusal_on_record
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller, IdempotencyKey, RequestFacts
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.idempotency import Replay, Result
from payments.failpoints import Failpoint, reached
from payments.ids import public_id
from payments.models import ApprovalRequest, Attempt, Charge, OperatorAction
from payments.models.operators.approval_rules import EXECUTED
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope

Kind = OperatorAction.Kind
# The process that approved an action has so long to execute it before the sweep takes over.
LEFT_AFTER = timedelta(seconds=60)
VERBS: dict[str, Callable[[Caller, ApprovalRequest], Result[Charge]]] = {
    Kind.CAPTURE: lambda caller, action: operations.capture(caller, str(action.charge), action.amount),
    Kind.VOID: lambda caller, action: operations.void(caller, str(action.charge)),
    # `after` has the chosen `reason`, if any.
    Kind.REFUND: lambda caller, action: operations.refund(caller, str(action.charge), action.amount, **action.after),
    Kind.RELEASE: lambda caller, action: operations.release(caller, str(action.charge)),
    Kind.EXTEND: lambda caller, action: operations.extend(caller, str(action.charge)),
}


def execute_action(action: ApprovalRequest) -> None:
    """Execute an approved action, which ends as done or refused.

    It stays approved while another process executes it, or while too many requests wait for the provider.
    """
    if action.kind == ApprovalRequest.Kind.ASSISTANT_CALL:
        calls.execute(action)
        return
    try:
        refusal = _ask(caller_of(action), action)
        _end(action, refusal.code if refusal else "")
    except PaymentError as refusal:
        if refusal.code != IDEMPOTENCY_KEY_IN_USE and not isinstance(refusal, ProviderBusy):
            _end(action, refusal.code)


def execute_left(scope: Scope = ALL_MERCHANTS) -> int:
    """Execute the approved actions of batches and of dead processes; return how many succeeded."""
    left = Q(batch__isnull=False) | Q(updated_at__lte=clock.now() - LEFT_AFTER)
    executed = ApprovalRequest.objects.approved().filter(kind__in=EXECUTED)
    actions = executed.filter(left, scope.within("charge__")).select_related("charge")
    return each_in_turn(actions, "expires_at", _execute)


def _execute(action: ApprovalRequest) -> bool:
    execute_action(action)
    return True


def caller_of(action: ApprovalRequest) -> Caller:
    """Return the caller that the provider and the merchant see: a request with the action's idempotency key."""
    key = IdempotencyKey(action.idempotency_key, hashlib.sha256(action.id.bytes).digest())
    request = RequestFacts(request_of(action), idempotency=key)
    return Caller(action.charge.merchant_id, action.charge.livemode, request=request)


def request_of(action: ApprovalRequest) -> str:
    """Return the request ID under which attempts, events and logs have the action."""
    return public_id("req", action.id)


def _ask(caller: Caller, action: ApprovalRequest) -> PaymentError | None:
    """Return the provider's refusal, from now or from the first try; None where it succeeded.

    Raise PaymentError where the provider was not asked: `idempotency_key_in_use` while another process executes it.
    """
    try:
        idempotency.look_up(caller)
        try:
            return VERBS[action.kind](caller, action).refusal
        except PaymentError:
            # The conflict may be this same action, which another process has begun meanwhile.
            idempotency.look_up(caller)
            raise
    except Replay:
        attempt = _attempt_of(action)
        return refusal_on_record(attempt) if attempt else None


def _end(action: ApprovalRequest, code: str) -> None:
    reached(Failpoint.EXECUTED)
    state = OperatorAction.State.REFUSED if code else OperatorAction.State.DONE
    approved, attempt = ApprovalRequest.objects.approved(), _attempt_of(action)
    move(action, approved, state, action.reason, detail=code, code=code, attempt=attempt)


def _attempt_of(action: ApprovalRequest) -> Attempt | None:
    """Return the action's latest attempt; there are several where one never reached the provider."""
    return action.charge.attempts.filter(request_id=request_of(action)).order_by("-id").first()
