"""The last phase: one statement that records what the provider answered, and stores the caller's answer."""

import logging

from django.db import DatabaseError, InterfaceError

from payments import clock
from payments.domain import attempts, idempotency, late
from payments.domain.caller import Caller
from payments.domain.changes import apply, rows_after, writes_of
from payments.domain.errors import PaymentError, busy
from payments.domain.idempotency import Answer
from payments.domain.outcome_rules import AttemptResult, apply_outcome
from payments.ids import public_id
from payments.models import Attempt, Charge, IdempotencyRecord
from payments.models.together import Delete, StaleRow, Update, Write, write_together
from payments.providers.base import ActionRequired, Approved, Declined, NotFound, Outcome, Pending, Rejected, Unknown
from payments.rendering.errors import render_error
from payments.rendering.objects import render_charge
from payments.rendering.wire import to_bytes
from payments.steps import Step, reached

logger = logging.getLogger("kaha.recording")

RECORD_TRIES = 10


def record(caller: Caller, attempt: Attempt, outcome: Outcome) -> Answer:
    """Record `outcome` of `attempt`, unless one is on record already; return the answer to whoever asked.

    Raise PaymentError where nothing was done and the request may be sent again.
    """
    try:
        return _record(caller, attempt, outcome)
    except (DatabaseError, InterfaceError):
        # Money may have moved, so this is no failure to the caller: recovery will find the outcome again.
        logger.exception("outcome could not be recorded", extra={"attempt": attempt.reference})
        return Answer(_success_status(attempt), to_bytes(render_charge(attempt.charge)))


def _record(caller: Caller, attempt: Attempt, outcome: Outcome) -> Answer:
    for _ in range(RECORD_TRIES):
        if attempt.state == Attempt.State.DONE:
            return _overtaken(caller, attempt, outcome)
        result = apply_outcome(attempt, outcome, clock.now())
        answer, writes = build_writes(caller, attempt, result, outcome)
        reached(Step.RECORDING)
        try:
            write_together(*writes)
        except StaleRow:
            tries, attempt = attempt.tries, attempts.reload(attempt)
            # Others looked it up before this question arrived, which must not put off the lookups of its own.
            attempt.tries = tries
            continue
        reached(Step.RECORDED)
        apply(attempt.charge, result.changes)
        if attempt.idempotency_id is None:
            # Where there is a key, whoever overtook us has answered it, and it has one answer only.
            idempotency.look_up(caller)
        if result.releases_key and result.refusal:
            raise result.refusal
        return answer
    raise busy(public_id("ch", attempt.charge_id))


def build_writes(
    caller: Caller, attempt: Attempt, result: AttemptResult, outcome: Outcome
) -> tuple[Answer, list[Write]]:
    """Return the answer to whoever asked, and all writes that record the result of `outcome`."""
    after = rows_after(attempt.charge, result.changes)
    moved = writes_of(caller, attempt, result.changes, after)
    answer = _answer(attempt, after[attempt.charge_id], result)
    return answer, [_close(attempt, result, outcome, answer), *moved, *_answering(attempt, result, answer)]


def _overtaken(caller: Caller, attempt: Attempt, outcome: Outcome) -> Answer:
    """The answer where somebody else recorded an outcome first: it stands, and ours came late."""
    # Where it is done, to look it up tells nothing, and to end it, as some lookups do, would undo it.
    if isinstance(outcome, Unknown) and attempt.outcome not in (Approved.__name__, late.LATE):
        outcome = attempts.look_up(attempt, lambda provider: provider.resolve(attempts.asked_of(attempt)))
    # A late no is old news, for whoever recorded asked later; only a report may take money back.
    if isinstance(outcome, Approved):
        late.apply(attempt, outcome)
    return stored_answer(caller, attempts.reload(attempt))


def stored_answer(caller: Caller, attempt: Attempt) -> Answer:
    """The answer where somebody else recorded the outcome: the stored one, or the charge as it is."""
    idempotency.look_up(caller)
    return Answer(_success_status(attempt), to_bytes(render_charge(attempt.charge)))


def _close(attempt: Attempt, result: AttemptResult, outcome: Outcome, answer: Answer) -> Update:
    values: dict[str, object] = {
        "state": result.state,
        "outcome": result.outcome,
        "due_at": result.due_at,
        "response": response_of(outcome),
        "outage_at": attempt.outage_at,
        # What a request was answered first stays true when the outcome is found later.
        "answer_status": attempt.answer_status or answer.status,
        "idempotency_id": None,
        # The lookups that led to nothing being known must not count as those that follow it.
        "tries": 0 if isinstance(outcome, NotFound) else attempt.tries,
        "updated_at": clock.now(),
    }
    # What was said before stays where nothing is said of it now; the decline of a block has a made-up reference.
    if attempt.block_id is None:
        values |= {name: said for name in ("provider_ref", "qr") if (said := getattr(outcome, name, ""))}
    return Update(Attempt, attempts.in_hand(attempt), values)


def response_of(outcome: Outcome) -> dict[str, object]:
    """What an attempt keeps of what its provider said."""
    said: dict[str, object] = {"outcome": type(outcome).__name__}
    match outcome:
        case Declined() | Rejected():
            said |= {"code": outcome.provider_code, "message": outcome.message}
        case Approved(response=dict(response)):
            said |= response
        case Approved() | ActionRequired() | Pending():
            pass
        case _:
            said |= {"why": getattr(outcome, "why", "")}
    return said


def _answer(attempt: Attempt, charge: Charge, result: AttemptResult) -> Answer:
    if result.refusal:
        return Answer(result.refusal.status, to_bytes(_envelope(result.refusal, attempt.request_id)))
    return Answer(_success_status(attempt), to_bytes(render_charge(charge)))


def _answering(attempt: Attempt, result: AttemptResult, answer: Answer) -> list[Write]:
    if attempt.idempotency_id is None:
        return []
    if result.releases_key:
        return [Delete(IdempotencyRecord, {"id": attempt.idempotency_id})]
    return [idempotency.answered(attempt.idempotency_id, answer)]


def _success_status(attempt: Attempt) -> int:
    # Once the provider has named the payment, whoever asks is continuing it, not creating a charge.
    return 201 if attempt.kind == Attempt.Kind.AUTHORIZE and not attempt.provider_ref else 200


def _envelope(refusal: PaymentError, request_id: str) -> dict[str, object]:
    return render_error(
        type=refusal.type,
        code=refusal.code,
        message=refusal.message,
        param=refusal.param,
        charge_id=refusal.charge_id,
        request_id=request_id,
    )
