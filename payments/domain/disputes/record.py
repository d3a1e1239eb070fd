"""Disputes, recorded as providers report them: forward only, with the money that a stage moves, in one statement."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import IntegrityError

from payments import clock
from payments.db.fast_model import copy_with
from payments.db.writes import Insert, StaleRow, Update, Write, execute_writes
from payments.domain.charging import attempts
from payments.domain.charging.changes import Change, rows_after, writes_of
from payments.domain.charging.state_machine import CHANGE_DISPUTE, DISPUTE, state_of, transition
from payments.domain.disputes.stages import ASKS_FOR_EVIDENCE, RETURNS, UNTOUCHED, Standing, standing_of
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.failpoints import Failpoint, reached
from payments.ledger import fees, movements
from payments.ledger.fees import rate_of
from payments.ledger.movements import Movement
from payments.ledger.settlement import next_settlement_at
from payments.models import Attempt, Charge, Dispute, Merchant
from payments.providers.disputes import Disputed, Response, Stage

RECORD_TRIES = 10
RESPONSE_STAGES: dict[str, tuple[Stage, ...]] = {
    Response.EVIDENCE: (Stage.INQUIRY_ANSWERED, Stage.EVIDENCE, Stage.EVIDENCE_AGAIN),
    Response.ACCEPT: (Stage.ACCEPTED, Stage.ACCEPTED_LATER),
}


class CannotBeTrue(Exception):
    """The report contradicts the charge; the message says how, for operators."""


class NotNow(Exception):
    """It can be recorded when an operation on the charge has ended; the message says which."""


def record(attempt: Attempt, reported: Disputed) -> None:
    """Record a stage of a dispute of the payment that `attempt` authorized; harmless when repeated.

    Raise CannotBeTrue where the report contradicts the charge, and NotNow.
    """
    for _ in range(RECORD_TRIES):
        charge = attempt.charge
        _require_possible(charge, reported)
        known = Dispute.objects.filter(charge=charge, provider_ref=reported.provider_ref).first()
        writes = list(_writes(attempt, known, reported, clock.now()))
        if not writes:
            return
        reached(Failpoint.RECORDING)
        try:
            execute_writes(*writes)
        except (StaleRow, IntegrityError):
            # Another process changed the charge, or recorded the same dispute first.
            attempt = attempts.reload(attempt)
        else:
            reached(Failpoint.RECORDED)
            return
    raise StaleRow


def _require_possible(charge: Charge, reported: Disputed) -> None:
    if charge.operation == Attempt.Kind.VOID:
        raise NotNow("A void of the charge has not ended.")
    if state_of(charge) not in DISPUTE.origins:
        raise CannotBeTrue(f"A charge that is {state_of(charge).name.lower()} is disputed.")
    if reported.currency != charge.currency:
        raise CannotBeTrue(f"The dispute is in {reported.currency}, and the charge in {charge.currency}.")
    if not 1 <= reported.amount <= charge.amount_captured:
        raise CannotBeTrue(f"The dispute is about {reported.amount}, and {charge.amount_captured} was captured.")


def _writes(attempt: Attempt, known: Dispute | None, reported: Disputed, now: datetime) -> Iterator[Write]:
    """Yield what records the report; nothing where it is no news."""
    charge, caller = attempt.charge, Caller.service(attempt.charge)
    was = Standing(Stage(known.stage), known.money_stage) if known else None
    standing = was.after(reported.stage) if was else standing_of([reported.stage])
    if was == standing and not (known and _is_response(known, reported.stage)):
        return
    fee = known.fee if known and known.money_stage != UNTOUCHED else _fee(charge, standing)
    if known:
        values = _values(known, reported, standing, now) | {"fee": fee}
        dispute = copy_with(known, values)
        same = {"id": known.id, "merchant_id": known.merchant_id, "version": known.version}
        yield Update(Dispute, same, values)
    else:
        dispute = _new(charge, reported, standing, fee, now)
        yield Insert(dispute)
    moved = list(_moved(charge, was, standing, dispute))
    marks: dict[str, Any] = {"settle_due_at": next_settlement_at(now)} if moved else {}
    taken = dispute.amount * (standing.withdrawn - bool(was and was.withdrawn))
    disputed = {"disputed": True, "amount_disputed": charge.amount_disputed + taken}
    marked = transition(charge, CHANGE_DISPUTE if known else DISPUTE, now, **disputed, **marks)
    changes: tuple[Change, ...] = (marked, *moved)
    after = rows_after(charge, changes)
    yield from events.of(caller, _event_of(known, standing), copy_with(dispute, {}, charge=after[charge.id]))
    yield from writes_of(caller, attempt, changes, after)


def _new(charge: Charge, reported: Disputed, standing: Standing, fee: int, now: datetime) -> Dispute:
    return Dispute(
        merchant_id=charge.merchant_id,
        livemode=charge.livemode,
        charge=charge,
        provider_ref=reported.provider_ref,
        network_ref=reported.network_ref,
        amount=reported.amount,
        currency=reported.currency,
        fee=fee,
        reason=reported.reason.value,
        network_code=reported.network_code,
        evidence_due_at=reported.evidence_due_at,
        created_at=now,
        updated_at=now,
        **_stands(standing),
    )


def _values(known: Dispute, reported: Disputed, standing: Standing, now: datetime) -> dict[str, Any]:
    """Return the new values of a known dispute. The amount stays what it was when money moved first."""
    return {
        **_stands(standing),
        **_responds(known, reported.stage, standing),
        "amount": reported.amount if known.money_stage == UNTOUCHED else known.amount,
        "network_ref": reported.network_ref or known.network_ref,
        "network_code": reported.network_code or known.network_code,
        "evidence_due_at": reported.evidence_due_at or known.evidence_due_at,
        "version": known.version + 1,
        "updated_at": now,
    }


def _is_response(known: Dispute, stage: Stage) -> bool:
    """Return whether the stage shows that the provider has the response, which may have seemed to be refused."""
    is_missing = known.response_state not in ("", Dispute.ResponseState.SENT)
    # What the bank had before it asked again is no proof of what is sent since.
    is_earlier = known.stage == Stage.ASKED_AGAIN and stage < Stage.ASKED_AGAIN
    return is_missing and not is_earlier and stage in RESPONSE_STAGES[known.response]


def _responds(known: Dispute, stage: Stage, standing: Standing) -> dict[str, Any]:
    """Return the new values of the response: sent, or gone where the bank asks for another one."""
    if _is_response(known, stage):
        return {"response_state": Dispute.ResponseState.SENT, "response_due_at": None, "response_why": ""}
    is_asked_again = standing.status in ASKS_FOR_EVIDENCE and standing.status != known.status
    if is_asked_again and known.response_state != Dispute.ResponseState.PENDING:
        return {"response": "", "response_state": "", "responded_at": None, "response_why": ""}
    return {}


def _stands(standing: Standing) -> dict[str, Any]:
    return {
        "stage": int(standing.stage),
        "money_stage": int(standing.money_stage),
        "status": standing.status.value,
        "withdrawn": standing.withdrawn,
    }


def _fee(charge: Charge, standing: Standing) -> int:
    """Return the merchant's fee for a dispute whose money moves for the first time."""
    if standing.money_stage == UNTOUCHED:
        return 0
    rates = Merchant.objects.values_list("rates", flat=True).get(id=charge.merchant_id)
    return rate_of(rates, fees.DISPUTE, charge.currency).fixed


def _moved(charge: Charge, was: Standing | None, standing: Standing, dispute: Dispute) -> Iterator[Movement]:
    """Yield the movements between two standings: where the return is the first that is known, both of them."""
    is_settled, had = charge.settled_at is not None, was is not None and was.withdrawn
    is_first = was is None or was.money_stage == UNTOUCHED
    is_returned = standing.money_stage in RETURNS
    if (standing.withdrawn and not had) or (is_first and is_returned):
        yield movements.dispute_withdrawn(dispute.amount, dispute.fee, is_settled=is_settled)
    if is_returned and (had or is_first):
        yield movements.dispute_won(dispute.amount, dispute.fee, is_settled=is_settled)


def _event_of(known: Dispute | None, standing: Standing) -> str:
    if known is None:
        return "dispute.created"
    return "dispute.updated" if standing.is_open or standing.status == known.status else "dispute.closed"
