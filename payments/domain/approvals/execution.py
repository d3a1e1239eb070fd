"""Execution of what was approved, by its verb, at most once: each request has its own idempotency key.

It starts when the approval is committed, whatever door approved it. Where that process dies, the request stays
approved, and the sweep gets the same answer with the same key.
"""

import hashlib
import json
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q

from payments import clock
from payments.domain.approvals.executors import move
from payments.domain.approvals.kinds.calls import key_of
from payments.domain.approvals.verbs import VERBS
from payments.domain.bulkheads import ProviderBusy
from payments.domain.catalogue import error_table as errors
from payments.domain.charging.outcome_rules import refusal_on_record
from payments.domain.merchants import assistants
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller, IdempotencyKey, RequestFacts
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.idempotency import Replay, StoredAnswer
from payments.failpoints import Failpoint, reached
from payments.ids import parse_id, public_id
from payments.models import ApprovalRequest, Attempt
from payments.models.operators.approval_rules import ASSISTANT_CALL, EXECUTED
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope

State = ApprovalRequest.State
# The process that approved a request has so long to execute it before the sweep takes over.
LEFT_AFTER = timedelta(seconds=60)
CONFLICT = 409
REFUSED_FROM = 400


def start(request: ApprovalRequest) -> None:
    """Execute `request`, if it is approved, when that is committed; a worker executes those of a batch."""
    if request.state == State.APPROVED and request.kind in EXECUTED and request.batch is None:
        transaction.on_commit(partial(execute, request))


def execute(request: ApprovalRequest) -> bool:
    """Execute an approved request, which ends as done or refused; return whether it has.

    It stays approved while another process executes it, and while the worker is to try it again.
    """
    reached(Failpoint.EXECUTING)
    caller = caller_of(request)
    try:
        _end(request, _answer(caller, request))
    except PaymentError as refusal:
        if not _is_tried_again(request, refusal):
            _refuse(caller, request, refusal)
    return request.state != State.APPROVED


def execute_left(scope: Scope = ALL_MERCHANTS) -> int:
    """Execute the approved requests of batches and of dead processes; return how many ended."""
    left = Q(batch__isnull=False) | Q(updated_at__lte=clock.now() - LEFT_AFTER)
    executed = ApprovalRequest.objects.approved().filter(kind__in=EXECUTED)
    requests = executed.filter(left, scope.within("charge__")).select_related("charge")
    return each_in_turn(requests, "expires_at", execute)


def caller_of(request: ApprovalRequest) -> Caller:
    """Return the caller that the provider and the merchant see: a request with its own idempotency key."""
    once = IdempotencyKey(request.idempotency_key, hashlib.sha256(request.id.bytes).digest())
    facts = RequestFacts(request_of(request), idempotency=once)
    if request.kind == ASSISTANT_CALL:
        return assistants.caller_of(key_of(request), facts)
    return Caller(request.charge.merchant_id, request.livemode, request=facts)


def request_of(request: ApprovalRequest) -> str:
    """Return the request ID under which attempts, events and logs have it."""
    return public_id("req", request.id)


def _answer(caller: Caller, request: ApprovalRequest) -> StoredAnswer:
    """Return the answer of the verb, from now or from the first try. Raise PaymentError where nothing was done."""
    try:
        idempotency.look_up(caller)
        try:
            if request.kind == ASSISTANT_CALL and request.decided_by_id is None:
                assistants.require_may_act(key_of(request), request.verb)
            return VERBS[request.verb].run(caller, request)
        except PaymentError:
            # The conflict may be this same request, which another process has begun meanwhile.
            idempotency.look_up(caller)
            raise
    except Replay as replay:
        return replay.answer


def _is_tried_again(request: ApprovalRequest, refusal: PaymentError) -> bool:
    """Return whether the worker tries it again: an operator decides that anew, an assistant's program waits."""
    if request.kind != ASSISTANT_CALL:
        return isinstance(refusal, ProviderBusy)
    ends_by_itself = refusal.code == errors.RESOURCE_BUSY or refusal.kind is errors.UNAVAILABLE
    return ends_by_itself and clock.now() < request.expires_at


def _end(request: ApprovalRequest, answer: StoredAnswer) -> None:
    reached(Failpoint.EXECUTED)
    body: dict[str, Any] = json.loads(answer.body)
    error, made = body.get("error", {}), body.get("id", "")
    charge_id = parse_id("ch", made or error.get("charge_id") or "") or request.charge_id
    attempt = _attempt_of(request, charge_id)
    # The provider may have refused after its first answer.
    refusal = refusal_on_record(attempt) if attempt else None
    values = {"charge_id": charge_id, "attempt": attempt}
    if answer.status >= REFUSED_FROM or refusal:
        _move(request, State.REFUSED, code=error.get("code") or (refusal.code if refusal else ""), **values)
    else:
        _move(request, State.DONE, after=request.after | {"made": made}, **values)


def _refuse(caller: Caller, request: ApprovalRequest, refusal: PaymentError) -> None:
    """End it as refused, and its idempotency key with it: another process that executes it moves nothing then."""
    body = {"error": {"code": refusal.code}}
    refused = {"code": refusal.code, "attempt": _attempt_of(request, request.charge_id)}
    try:
        with transaction.atomic():
            idempotency.store_answer(caller, StoredAnswer(CONFLICT, json.dumps(body).encode()))
            _move(request, State.REFUSED, **refused)
    except Replay as replay:
        _end(request, replay.answer)
    except PaymentError as conflicting:
        # A key under which the merchant sent a request of its own executes this one never.
        if conflicting.code != errors.IDEMPOTENCY_KEY_IN_USE:
            _move(request, State.REFUSED, **refused)


def _attempt_of(request: ApprovalRequest, charge_id: Any) -> Attempt | None:
    """Return the request's latest attempt; there are several where one never reached the provider."""
    sent = Attempt.objects.filter(merchant=request.merchant_id, charge=charge_id, request_id=request_of(request))
    return sent.order_by("-id").first() if charge_id else None


def _move(request: ApprovalRequest, state: State, **values: Any) -> None:
    move(request, ApprovalRequest.objects.approved(), state, request.reason, detail=values.get("code", ""), **values)
