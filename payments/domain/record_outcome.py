"""The last phase: one statement that records what the provider answered, and stores the caller's answer."""

import logging
from copy import copy

from django.db import DatabaseError, InterfaceError

from payments import clock
from payments.domain import attempts, idempotency, late
from payments.domain.caller import Caller
from payments.domain.errors import PaymentError, busy
from payments.domain.idempotency import Answer
from payments.domain.outcome_rules import Verdict, settle
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
    """Records `outcome` of `attempt`, unless it is settled already; returns the answer to whoever asked.

    Raises PaymentError where nothing was done and the request may be sent again.
    """
    known = _as_on_record(attempt.charge)
    try:
        return _record(caller, attempt, outcome)
    except (DatabaseError, InterfaceError):
        # Money may have moved, so this is no failure to the caller: recovery will find the outcome again.
        logger.exception("outcome could not be recorded", extra={"attempt": attempt.reference})
        return Answer(_success_status(attempt), to_bytes(render_charge(known)))


def _as_on_record(charge: Charge) -> Charge:
    """A copy of all that is shown of `charge` and that an outcome changes, to be shown where it cannot be recorded."""
    known = copy(charge)
    known.refund_list = [copy(refund) for refund in charge.refund_list]
    known.source = copy(charge.source)
    if card := getattr(charge.source, "card", None):
        known.source.card = copy(card)
    return known


def _record(caller: Caller, attempt: Attempt, outcome: Outcome) -> Answer:
    for _ in range(RECORD_TRIES):
        if attempt.state == Attempt.State.DONE:
            return _overtaken(caller, attempt, outcome)
        verdict = settle(caller, attempt, outcome)
        answer, writes = closing(attempt, verdict, outcome)
        reached(Step.RECORDING)
        try:
            write_together(*writes)
        except StaleRow:
            tries, attempt = attempt.tries, attempts.reload(attempt)
            # Others looked it up before this question arrived, which must not put off the lookups of its own.
            attempt.tries = tries
            continue
        reached(Step.RECORDED)
        if attempt.idempotency_id is None:
            # Where there is a key, whoever overtook us has answered it, and it has one answer only.
            idempotency.look_up(caller)
        if verdict.release and verdict.refusal:
            raise verdict.refusal
        return answer
    raise busy(public_id("ch", attempt.charge_id))


def closing(attempt: Attempt, verdict: Verdict, outcome: Outcome) -> tuple[Answer, list[Write]]:
    """What whoever asked is answered, and all writes that record the verdict on `outcome`."""
    answer = _answer(attempt, verdict)
    return answer, [_close(attempt, verdict, outcome, answer), *verdict.writes, *_answering(attempt, verdict, answer)]


def _overtaken(caller: Caller, attempt: Attempt, outcome: Outcome) -> Answer:
    """The answer where somebody else recorded an outcome first: it stands, and ours came late."""
    # Where it is done, to look it up tells nothing, and to end it, as some lookups do, would undo it.
    if isinstance(outcome, Unknown) and attempt.outcome not in (Approved.__name__, late.LATE):
        outcome = attempts.look_up(attempt, lambda provider: provider.resolve(attempts.asked_of(attempt)))
    # A late no is old news, for whoever recorded asked later; only a report may take money back.
    if isinstance(outcome, Approved):
        late.apply(attempt, outcome)
    return as_known(caller, attempts.reload(attempt))


def as_known(caller: Caller, attempt: Attempt) -> Answer:
    """The answer where somebody else recorded the outcome: the stored one, or the charge as it is."""
    idempotency.look_up(caller)
    return Answer(_success_status(attempt), to_bytes(render_charge(attempt.charge)))


def _close(attempt: Attempt, verdict: Verdict, outcome: Outcome, answer: Answer) -> Update:
    values: dict[str, object] = {
        "state": verdict.state,
        "outcome": verdict.outcome,
        "due_at": verdict.due_at,
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


def _answer(attempt: Attempt, verdict: Verdict) -> Answer:
    if verdict.refusal:
        return Answer(verdict.refusal.status, to_bytes(_envelope(verdict.refusal, attempt.request_id)))
    return Answer(_success_status(attempt), to_bytes(render_charge(attempt.charge)))


def _answering(attempt: Attempt, verdict: Verdict, answer: Answer) -> list[Write]:
    if attempt.idempotency_id is None:
        return []
    if verdict.release:
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
