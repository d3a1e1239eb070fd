"""Execution of approved actions by the API's verbs, at most once: each action has its own idempotency key.

Where a process dies, the action stays approved, and the sweep gets the same answer with the same key.
"""

import hashlib
import logging
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models import Q

from payments import clock
from payments.domain import idempotency
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.bulkheads import ProviderBusy
from payments.domain.caller import Caller, IdempotencyKey
from payments.domain.charging import operations
from payments.domain.charging.outcome_rules import refusal_on_record
from payments.domain.errors import PaymentError
from payments.domain.idempotency import Replay, Result
from payments.domain.operators.summary import said
from payments.domain.sweep_scope import EVERYBODY, Scope
from payments.ids import public_id
from payments.models import Attempt, Charge, StaffAct

logger = logging.getLogger("kaha.staff_acts")

Kind = StaffAct.Kind
BATCH = 100
# The process that approved an action has so long to execute it before the sweep takes over.
LEFT_AFTER = timedelta(seconds=60)
IN_USE = "idempotency_key_in_use"
VERBS: dict[str, Callable[[Caller, StaffAct], Result[Charge]]] = {
    Kind.CAPTURE: lambda caller, act: operations.capture(caller, str(act.charge), act.amount),
    Kind.VOID: lambda caller, act: operations.void(caller, str(act.charge)),
    Kind.REFUND: lambda caller, act: operations.refund(caller, str(act.charge), act.amount),
    Kind.RELEASE: lambda caller, act: operations.release(caller, str(act.charge)),
    Kind.EXTEND: lambda caller, act: operations.extend(caller, str(act.charge)),
}


def do(act: StaffAct) -> None:
    """Execute an approved action, which ends as done or refused.

    It stays approved while another process executes it, or while too many requests wait for the provider.
    """
    try:
        refusal = _ask(caller_of(act), act)
        _end(act, refusal.code if refusal else "")
    except PaymentError as refusal:
        if refusal.code != IN_USE and not isinstance(refusal, ProviderBusy):
            _end(act, refusal.code)


def go_on(limit: int = BATCH, scope: Scope = EVERYBODY) -> int:
    """Execute at most `limit` approved actions of batches or of dead processes; return how many succeeded."""
    left = Q(batch__isnull=False) | Q(updated_at__lte=clock.now() - LEFT_AFTER)
    actions = StaffAct.objects.approved().filter(left, scope.within("charge__")).select_related("charge")
    return sum(_try(act) for act in actions.order_by("expires_at")[:limit])


def caller_of(act: StaffAct) -> Caller:
    """Return the caller that the provider and the merchant see: a request with the action's idempotency key."""
    key = IdempotencyKey(act.idempotency_key, hashlib.sha256(act.id.bytes).digest())
    return Caller(act.charge.merchant_id, act.charge.livemode, request_id=request_of(act), idempotency=key)


def request_of(act: StaffAct) -> str:
    """Return the request ID under which attempts, events and logs have the action."""
    return public_id("req", act.id)


def _ask(caller: Caller, act: StaffAct) -> PaymentError | None:
    """Return the provider's refusal, from now or from the first try; None where it succeeded.

    Raises PaymentError where the provider was not asked; its code is IN_USE while another process executes the action.
    """
    try:
        idempotency.look_up(caller)
        try:
            return VERBS[act.kind](caller, act).refusal
        except PaymentError:
            # The conflict may be this same action, which another process has begun meanwhile.
            idempotency.look_up(caller)
            raise
    except Replay:
        attempt = _attempt_of(act)
        return refusal_on_record(attempt) if attempt else None


@transaction.atomic
def _end(act: StaffAct, code: str) -> None:
    """Record the result, unless another process has."""
    state = StaffAct.State.REFUSED if code else StaffAct.State.DONE
    rows = StaffAct.objects.approved().filter(id=act.id)
    if rows.update(state=state, code=code, attempt=_attempt_of(act), updated_at=clock.now()):
        audit_log.record(Action(state), act, detail=", ".join(filter(None, [said(act), code])), reason=act.reason)
    act.refresh_from_db()


def _attempt_of(act: StaffAct) -> Attempt | None:
    """Return the action's latest attempt; there are several where one never reached the provider."""
    return act.charge.attempts.filter(request_id=request_of(act)).order_by("-id").first()


def _try(act: StaffAct) -> bool:
    """Execute one action and log its failure, so that the next ones still run; return whether it succeeded."""
    try:
        do(act)
    except Exception:
        logger.exception("action could not be executed", extra={"action": act.id.hex})
        return False
    return True
