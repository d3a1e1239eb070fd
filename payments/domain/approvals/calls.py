"""Calls of assistants that move money: asked for once under an idempotency key, and executed by the API's verbs."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID, uuid5

from django.db import IntegrityError, transaction

from payments import clock
from payments.domain.approvals.call_plans import Call, Planned, caller_of, plan
from payments.domain.approvals.executors import move
from payments.domain.approvals.kinds.calls import KEY_ENDED, key_of
from payments.domain.approvals.payouts import pay_out
from payments.domain.approvals.request import submit
from payments.domain.catalogue import error_table as errors
from payments.domain.charging import charges, operations
from payments.domain.charging.charges import ChargeOrder
from payments.domain.checkout import links, requests
from payments.domain.merchants.assistants import may_act
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import terms
from payments.domain.payouts.make import NothingToPay
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller, IdempotencyKey
from payments.domain.shared.errors import PaymentError, conflict, invalid
from payments.domain.shared.idempotency import Replay, StoredAnswer
from payments.failpoints import Failpoint, reached
from payments.ids import new_id, parse_id, public_id
from payments.models import ApiKey, ApprovalRequest, AssistantCall, Attempt

CREATED = 201
CONFLICT = 409
REFUSED_FROM = 400
State = ApprovalRequest.State


def ask(key: ApiKey, call: Call, idempotency_key: str, reason: str) -> ApprovalRequest:
    """Return the request for `call`, new or made before under this key; execute it where the key's rule lets it.

    Raise PaymentError for what the verb would refuse, and for an idempotency key of another call; Refused where too
    many requests wait; ValidationError for a reason that holds a secret.
    """
    subject = uuid5(key.merchant_id, f"{key.livemode} {key.asks_as_id} {idempotency_key}")
    request = _made_before(subject, call)
    if request is None:
        try:
            request = _submitted(key, call, subject, reason)
        except (IntegrityError, PaymentError, Refused):
            # The same call came twice at once, and has perhaps moved the money already.
            request = _made_before(subject, call)
            if request is None:
                raise
    if request.state == State.APPROVED:
        execute(request)
    return request


def execute(request: ApprovalRequest) -> None:
    """Execute an approved call, which ends as done or refused.

    It stays approved while another process executes it, and until it expires while the charge is busy or the provider
    is not reached: the worker tries it again.
    """
    key = key_of(request)
    once = IdempotencyKey(request.idempotency_key, hashlib.sha256(request.id.bytes).digest())
    caller = caller_of(key, public_id("req", request.id), once)
    try:
        _end(request, _answer(key, caller, request))
    except PaymentError as refusal:
        ends_by_itself = refusal.code == errors.RESOURCE_BUSY or refusal.kind is errors.UNAVAILABLE
        if not (ends_by_itself and clock.now() < request.expires_at):
            _refuse(caller, request, refusal)


def call_of(request: ApprovalRequest) -> Call:
    """Return the call that a request is for."""
    return Call(request.after["tool"], request.after["about"], request.after["body"])


def plan_of(key: ApiKey, request: ApprovalRequest) -> Planned:
    """Return what a call that was asked for by `key` would move now. Raise PaymentError for why it would be refused."""
    if not may_act(key, request.after["tool"]):
        raise conflict(errors.KEY_REVOKED, KEY_ENDED)
    planned = plan(caller_of(key), call_of(request))
    if request.after.get("held") and not (planned.charge and planned.charge.authorized):
        raise conflict("not_allowed", "The hold was captured meanwhile.")
    is_other = {"payout": planned.amount > request.amount, "refund": planned.amount < request.amount}
    if is_other.get(request.after["tool"]):
        raise conflict(errors.AMOUNT_TOO_LARGE, "What this moves has changed since it was asked for.")
    return planned


def _made_before(subject: UUID, call: Call) -> ApprovalRequest | None:
    request = AssistantCall.objects.filter(subject_id=subject).first()
    if request and call_of(request) != call:
        message = (
            "This idempotency key was used for another call. Send that call as it was, or this one under a new key."
        )
        raise PaymentError(errors.KEY_CONFLICT, errors.IDEMPOTENCY_KEY_REUSED, message)
    return request


def _submitted(key: ApiKey, call: Call, subject: UUID, reason: str) -> ApprovalRequest:
    planned = plan(caller_of(key), call)
    after = {"tool": call.tool, "about": call.about, "body": call.body, "key": key.id.hex, "livemode": key.livemode}
    if call.tool == "void" and planned.charge:
        # A hold that is captured meanwhile is not given back.
        after["held"] = planned.charge.authorized
    request = ApprovalRequest(
        id=new_id(),
        merchant_id=key.merchant_id,
        kind=ApprovalRequest.Kind.ASSISTANT_CALL,
        subject_id=subject,
        charge=planned.charge,
        amount=planned.amount,
        currency=planned.currency,
        after=after,
        reason=reason,
        proposed_by=key.asks_as,
    )
    submit(request)
    return request


def _answer(key: ApiKey, caller: Caller, request: ApprovalRequest) -> StoredAnswer:
    """Return the answer of the verb, from now or from the first try. Raise PaymentError where nothing was done."""
    try:
        idempotency.look_up(caller)
        try:
            if request.decided_by_id is None and not may_act(key, request.after["tool"]):
                raise conflict(errors.KEY_REVOKED, KEY_ENDED)
            return VERBS[request.after["tool"]](caller, request)
        except PaymentError:
            # The conflict may be this same call, which another process has begun meanwhile.
            idempotency.look_up(caller)
            raise
    except Replay as replay:
        return replay.answer


def _end(request: ApprovalRequest, answer: StoredAnswer) -> None:
    reached(Failpoint.EXECUTED)
    body: dict[str, Any] = json.loads(answer.body)
    if answer.status >= REFUSED_FROM:
        charge = parse_id("ch", body["error"].get("charge_id") or "")
        _move(request, State.REFUSED, code=body["error"]["code"], charge_id=request.charge_id or charge)
        return
    charge = parse_id("ch", body["id"]) or request.charge_id
    of_call = {"merchant_id": request.merchant_id, "charge_id": charge, "request_id": public_id("req", request.id)}
    sent = Attempt.objects.filter(**of_call).order_by("-id").first() if charge else None
    made = {"after": request.after | {"made": body["id"]}, "charge_id": charge, "attempt": sent}
    _move(request, State.DONE, **made)


def _refuse(caller: Caller, request: ApprovalRequest, refusal: PaymentError) -> None:
    """End a call as refused, and its idempotency key with it: another process that executes it moves nothing then."""
    body = {"error": {"code": refusal.code}}
    try:
        with transaction.atomic():
            idempotency.store_answer(caller, StoredAnswer(CONFLICT, json.dumps(body).encode()))
            _move(request, State.REFUSED, code=refusal.code)
    except Replay as replay:
        _end(request, replay.answer)
    except PaymentError as conflicting:
        # A key under which the merchant sent a request of its own executes this call never.
        if conflicting.code != errors.IDEMPOTENCY_KEY_IN_USE:
            _move(request, State.REFUSED, code=refusal.code)


def _move(request: ApprovalRequest, state: State, **values: Any) -> None:
    move(request, ApprovalRequest.objects.approved(), state, request.reason, detail=values.get("code", ""), **values)


def _charge(caller: Caller, request: ApprovalRequest) -> StoredAnswer:
    return charges.create(caller, ChargeOrder(**request.after["body"])).answer


def _void(caller: Caller, request: ApprovalRequest) -> StoredAnswer:
    undo = operations.release if request.after["held"] else operations.void
    return undo(caller, request.after["about"]).answer


def _refund(caller: Caller, request: ApprovalRequest) -> StoredAnswer:
    reason = request.after["body"].get("reason", "")
    return operations.refund(caller, request.after["about"], request.amount, reason).answer


def _link(caller: Caller, request: ApprovalRequest) -> StoredAnswer:
    return links.create(caller, request.merchant, request.after["body"], _named).answer


def _request(caller: Caller, request: ApprovalRequest) -> StoredAnswer:
    return requests.create(caller, request.merchant, request.after["body"], _named).answer


def _named(row: object) -> StoredAnswer:
    """Return the answer that is kept of what a call made: its ID."""
    return StoredAnswer(CREATED, json.dumps({"id": str(row)}).encode())


@transaction.atomic
def _payout(caller: Caller, request: ApprovalRequest) -> StoredAnswer:
    schedule = terms.schedule_of(request.merchant, caller.livemode, request.currency)
    try:
        payout = pay_out(schedule, request.decided_by, request.note) if schedule else None
    except NothingToPay:
        payout = None
    if payout is None:
        raise invalid("too_small", "currency", "The balance has nothing to pay out.")
    if payout.amount > request.amount:
        raise conflict(errors.AMOUNT_TOO_LARGE, "The balance has more than was asked for: ask again.")
    answer = _named(payout)
    idempotency.store_answer(caller, answer)
    return answer


VERBS: Mapping[str, Callable[[Caller, ApprovalRequest], StoredAnswer]] = {
    "charge": _charge,
    "capture": lambda caller, call: operations.capture(caller, call.after["about"], call.amount).answer,
    "void": _void,
    "refund": _refund,
    "link": _link,
    "request": _request,
    "payout": _payout,
}
