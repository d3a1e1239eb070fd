"""The last phase: one statement that records what the provider answered, and stores the answer to the request."""

import logging
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError

from payments import clock
from payments.db.writes import Delete, StaleRow, Update, Write, execute_writes
from payments.domain.charging import attempts, late_outcomes
from payments.domain.charging.changes import apply, rows_after, writes_of
from payments.domain.charging.outcome_rules import AttemptResult, apply_outcome
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError, busy
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.failpoints import Failpoint, reached
from payments.ids import public_id
from payments.metrics.counters import count_charge
from payments.models import Attempt, Charge, IdempotencyRecord
from payments.providers.base import ActionRequired, Approved, Declined, NotFound, Outcome, Pending, Rejected, Unknown

logger = logging.getLogger("kaha.recording")

RECORD_TRIES = 10
# Makes the answer to the request of an attempt: of the charge as it is then, or of the refusal.
Render = Callable[[Attempt, Charge, PaymentError | None], StoredAnswer]
_render: Render


def use_renderer(render: Render) -> None:
    """Have `render` make all answers, also those to requests whose process died and whose outcome is found later."""
    global _render
    _render = render


def record(caller: Caller, attempt: Attempt, outcome: Outcome) -> Result[Charge]:
    """Record `outcome` of `attempt`, unless one is on record already; return how the charge stands.

    Raise PaymentError where nothing was done and the request may be sent again.
    """
    try:
        return _record(caller, attempt, outcome)
    except (DatabaseError, InterfaceError):
        # Money may have moved, so this is no failure to the caller: recovery will find the outcome again.
        logger.exception("outcome could not be recorded", extra={"attempt": attempt.reference})
        return _on_record(attempt)


def _record(caller: Caller, attempt: Attempt, outcome: Outcome) -> Result[Charge]:
    for _ in range(RECORD_TRIES):
        if attempt.state == Attempt.State.DONE:
            return _recorded_by_another(caller, attempt, outcome)
        result = apply_outcome(attempt, outcome, clock.now())
        answer, writes = _build_writes(caller, attempt, result, outcome)
        reached(Failpoint.RECORDING)
        try:
            execute_writes(*writes)
        except StaleRow:
            tries, attempt = attempt.tries, attempts.reload(attempt)
            # Lookups before this call must not delay the lookups that follow it.
            attempt.tries = tries
            continue
        reached(Failpoint.RECORDED)
        if attempt.kind == Attempt.Kind.AUTHORIZE:
            count_charge(attempt.charge.livemode, outcome)
        apply(attempt.charge, result.changes)
        if attempt.idempotency_id is None:
            # Another process has answered the request under its key, which has one answer only.
            idempotency.look_up(caller)
        if result.releases_key and result.refusal:
            raise result.refusal
        return Result(attempt.charge, answer, result.refusal)
    raise busy(public_id("ch", attempt.charge_id))


def _build_writes(
    caller: Caller, attempt: Attempt, result: AttemptResult, outcome: Outcome
) -> tuple[StoredAnswer, list[Write]]:
    """Return the answer to the request, and all writes that record the result of `outcome`."""
    after = rows_after(attempt.charge, result.changes)
    moved = writes_of(caller, attempt, result.changes, after)
    answer = _render(attempt, after[attempt.charge_id], result.refusal)
    writes: list[Write] = [_close(attempt, result, outcome, answer)]
    if attempt.idempotency_id and result.releases_key:
        writes.append(Delete(IdempotencyRecord, {"id": attempt.idempotency_id, "merchant_id": attempt.merchant_id}))
    elif attempt.idempotency_id:
        writes.append(idempotency.answered(attempt.idempotency_id, attempt.merchant_id, answer))
    return answer, [*writes, *moved]


def _recorded_by_another(caller: Caller, attempt: Attempt, outcome: Outcome) -> Result[Charge]:
    """Return the charge where another process recorded an outcome first, which stands. Raise Replay."""
    # A lookup of what is done says nothing new, and the cancel that some lookups send would undo it.
    if isinstance(outcome, Unknown) and attempt.outcome not in (Approved.__name__, late_outcomes.LATE):
        outcome = attempts.look_up(attempt, lambda provider: provider.resolve(attempts.request_of(attempt)))
    # A decline here is older than what is recorded; only a provider's event may take money back.
    if isinstance(outcome, Approved):
        late_outcomes.apply(attempt, outcome)
    fresh = attempts.reload(attempt)
    idempotency.look_up(caller)
    return _on_record(fresh)


def _on_record(attempt: Attempt) -> Result[Charge]:
    return Result(attempt.charge, _render(attempt, attempt.charge, None))


def _close(attempt: Attempt, result: AttemptResult, outcome: Outcome, answer: StoredAnswer) -> Update:
    values: dict[str, object] = {
        "state": result.state,
        "outcome": result.outcome,
        "due_at": result.due_at,
        "response": response_of(outcome),
        "outage_at": attempt.outage_at,
        # The first answer to a request stays on record when the outcome is found later.
        "answer_status": attempt.answer_status or answer.status,
        "idempotency_id": None,
        # Lookups before the attempt was given up do not count as second looks.
        "tries": 0 if isinstance(outcome, NotFound) else attempt.tries,
        "updated_at": clock.now(),
    }
    # An empty value keeps the one before; the decline of a block has a made-up reference.
    if attempt.block_id is None:
        values |= {name: value for name in ("provider_ref", "qr") if (value := getattr(outcome, name, ""))}
    return Update(Attempt, attempts.unchanged(attempt), values)


def response_of(outcome: Outcome) -> dict[str, object]:
    """Return what an attempt keeps of its provider's answer."""
    kept: dict[str, object] = {"outcome": type(outcome).__name__}
    match outcome:
        case Declined() | Rejected():
            kept |= {"code": outcome.provider_code, "message": outcome.message}
        case Approved(response=dict(response)):
            kept |= response
        case Approved() | ActionRequired() | Pending():
            pass
        case _:
            kept |= {"why": getattr(outcome, "why", "")}
    return kept
