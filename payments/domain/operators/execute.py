"""Does what is approved, by the verbs of the API and at most once: each act has an idempotency key of its own.

A process may die anywhere: the act stays approved, and the sweep comes to the same answer by the same key.
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
# How long whoever approved an act has to do it, before it is taken for left behind.
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
    """Does an approved act, which is then done or refused.

    It stays approved where another process is at it, or too many requests wait for the provider.
    """
    try:
        refusal = _ask(caller_of(act), act)
        _end(act, refusal.code if refusal else "")
    except PaymentError as refusal:
        if refusal.code != IN_USE and not isinstance(refusal, ProviderBusy):
            _end(act, refusal.code)


def go_on(limit: int = BATCH, scope: Scope = EVERYBODY) -> int:
    """Does at most `limit` approved acts that nobody is doing; returns how many it tried."""
    left = Q(batch__isnull=False) | Q(updated_at__lte=clock.now() - LEFT_AFTER)
    acts = StaffAct.objects.approved().filter(left, scope.within("charge__")).select_related("charge")
    return sum(_do_alone(act) for act in acts.order_by("expires_at")[:limit])


def caller_of(act: StaffAct) -> Caller:
    """Whoever asks, as far as the provider and the merchant learn of it: a request with a key, named after the act."""
    key = IdempotencyKey(act.idempotency_key, hashlib.sha256(act.id.bytes).digest())
    return Caller(act.charge.merchant_id, act.charge.livemode, request_id=request_of(act), idempotency=key)


def request_of(act: StaffAct) -> str:
    """The request ID under which attempts, events and logs have the act."""
    return public_id("req", act.id)


def _ask(caller: Caller, act: StaffAct) -> PaymentError | None:
    """Return the provider's refusal, of now or of the first time, None where it was done.

    Raise PaymentError where nothing was asked; IN_USE while another process is at it.
    """
    try:
        idempotency.look_up(caller)
        try:
            return VERBS[act.kind](caller, act).refusal
        except PaymentError:
            # What is in the way may be this very act, in another process that began meanwhile.
            idempotency.look_up(caller)
            raise
    except Replay:
        attempt = _attempt_of(act)
        return refusal_on_record(attempt) if attempt else None


@transaction.atomic
def _end(act: StaffAct, code: str) -> None:
    """Puts down how it went, unless another process has."""
    state = StaffAct.State.REFUSED if code else StaffAct.State.DONE
    rows = StaffAct.objects.approved().filter(id=act.id)
    if rows.update(state=state, code=code, attempt=_attempt_of(act), updated_at=clock.now()):
        audit_log.record(Action(state), act, detail=", ".join(filter(None, [said(act), code])), reason=act.reason)
    act.refresh_from_db()


def _attempt_of(act: StaffAct) -> Attempt | None:
    """The latest attempt at it: where one never reached the provider, another was made."""
    return act.charge.attempts.filter(request_id=request_of(act)).order_by("-id").first()


def _do_alone(act: StaffAct) -> bool:
    """As `do`, but whatever is wrong with one act keeps nobody from the others."""
    try:
        do(act)
    except Exception:
        logger.exception("act could not be done", extra={"act": act.id.hex})
        return False
    return True
