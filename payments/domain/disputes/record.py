"""Disputes, recorded as providers report them: forward only, with the money that a stage moves, in one statement."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import IntegrityError

from payments import clock
from payments.db.fast_model import copy_with
from payments.db.writes import Insert, StaleRow, Update, Write, execute_writes
from payments.domain.catalogue.event_types import DISPUTE_CLOSED, DISPUTE_CREATED, DISPUTE_UPDATED
from payments.domain.charging import attempts
from payments.domain.charging.changes import Change, rows_after, writes_of
from payments.domain.charging.state_machine import CHANGE_DISPUTE, DISPUTE, state_of, transition
from payments.domain.disputes.money import Money, contradicts, is_first_of, money_after, moved, moved_up, unexpected
from payments.domain.disputes.stages import ASKS_FOR_EVIDENCE, STATUSES, UNTOUCHED, Standing, standing_of
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.failpoints import Failpoint, reached
from payments.ledger import fees
from payments.ledger.fees import rate_of
from payments.ledger.movements import dispute_withdrawn
from payments.ledger.settlement import next_settlement_at
from payments.models import Attempt, Charge, Dispute, Merchant
from payments.money import KNOWN_CURRENCIES
from payments.providers.disputes import Disputed, Response, Stage

RECORD_TRIES = 10
RESPONSE_STAGES: dict[str, tuple[Stage, ...]] = {
    Response.EVIDENCE: (*(Stage.INQUIRY_ANSWERED, Stage.EVIDENCE, Stage.EVIDENCE_AGAIN), Stage.PREARBITRATION_ANSWERED),
    Response.ACCEPT: (Stage.ACCEPTED, Stage.ACCEPTED_LATER, Stage.PREARBITRATION_ACCEPTED),
}
# What a report changes of a known dispute.
REPORTED = (
    *("stage", "money_stage", "status", "withdrawn", "amount_withdrawn", "stage_amounts", "amount", "currency", "fee"),
    *("network_ref", "network_code", "evidence_due_at", "version", "updated_at"),
    *("response", "response_state", "response_due_at", "responded_at", "response_why"),
)
# Of what no sum of our books comes near.
REPORTED_MAX = 10**15
# After these the bank wants another response than the one that it had.
ASKS_AGAIN = (Stage.ASKED_AGAIN, Stage.PREARBITRATION)


class CannotBeTrue(Exception):
    """The report contradicts the charge; the message says how, for operators."""


class NotNow(Exception):
    """It can be recorded when an operation on the charge has ended; the message says which."""


def record(attempt: Attempt, reported: Disputed) -> str:
    """Record a stage of a dispute of the payment that `attempt` authorized; harmless when repeated.

    Return what operators must know of it, empty for nothing: its amount is not what was expected, or not all of it is
    in the books. Raise CannotBeTrue where the report contradicts the charge, and NotNow.
    """
    for _ in range(RECORD_TRIES):
        charge = attempt.charge
        _require_possible(charge, reported)
        known = Dispute.objects.filter(charge=charge, provider_ref=reported.provider_ref).first()
        money, now = money_after(charge, known, reported), clock.now()
        dispute = _after(charge, known, reported, money, now)
        if dispute is None:
            return contradicts(known, reported, money)
        reached(Failpoint.RECORDING)
        try:
            execute_writes(*_writes(attempt, known, dispute, money, now))
        except (StaleRow, IntegrityError):
            # Another process changed the charge, or recorded the same dispute first.
            attempt = attempts.reload(attempt)
        else:
            reached(Failpoint.RECORDED)
            return unexpected(charge, dispute, reported, money)
    raise StaleRow


def _require_possible(charge: Charge, reported: Disputed) -> None:
    if charge.operation == Attempt.Kind.VOID:
        raise NotNow("A void of the charge has not ended.")
    if state_of(charge) not in DISPUTE.origins:
        raise CannotBeTrue(f"A charge that is {state_of(charge).name.lower()} is disputed.")
    if reported.currency not in KNOWN_CURRENCIES or not 1 <= reported.amount <= REPORTED_MAX:
        raise CannotBeTrue(f"The dispute is about {reported.amount} in {reported.currency!r}.")


def _after(charge: Charge, known: Dispute | None, reported: Disputed, money: Money, now: datetime) -> Dispute | None:
    """Return the dispute as it is after the report, not stored; None where it is no news."""
    was = Standing(Stage(known.stage), known.money_stage) if known else None
    standing = was.after(reported.stage) if was else standing_of([reported.stage])
    fee = known.fee if known and known.money_stage != UNTOUCHED else _fee(charge, standing)
    values = {
        "stage": int(standing.stage),
        "money_stage": int(standing.money_stage),
        "status": standing.status.value,
        "withdrawn": standing.withdrawn or money.held > 0,
        "amount_withdrawn": money.posted,
        "stage_amounts": {str(stage): amount for stage, amount in money.amounts.items()},
        "fee": fee,
    }
    if known is None:
        return _new(charge, reported, values, now)
    is_same = was == standing and len(known.stage_amounts) == len(money.amounts)
    if is_same and not _is_response(known, reported.stage):
        return None
    return copy_with(known, _values(known, reported, standing, money, now) | values)


def _writes(attempt: Attempt, known: Dispute | None, dispute: Dispute, money: Money, now: datetime) -> Iterator[Write]:
    """Yield what records a dispute as it is after a report."""
    charge, caller = attempt.charge, Caller.service(attempt.charge)
    if known:
        same = {"id": known.id, "merchant_id": known.merchant_id, "version": known.version}
        yield Update(Dispute, same, {name: getattr(dispute, name) for name in REPORTED})
    else:
        yield Insert(dispute)
    others = list(moved_up(charge, known, money))
    more, is_settled = sum(amount for _, amount in others), charge.settled_at is not None
    movements_of_all = (*moved(charge, known, dispute, money), dispute_withdrawn(more, 0, is_settled=is_settled))
    posted = [movement for movement in movements_of_all if movement.lines]
    marks: dict[str, Any] = {"settle_due_at": next_settlement_at(now)} if posted else {}
    taken = money.posted - (known.amount_withdrawn if known else 0) + more
    disputed = {"disputed": True, "amount_disputed": charge.amount_disputed + taken}
    marked = transition(charge, CHANGE_DISPUTE if known else DISPUTE, now, **disputed, **marks)
    changes: tuple[Change, ...] = (marked, *posted)
    after = rows_after(charge, changes)
    yield from events.of(caller, _event_of(known, dispute), copy_with(dispute, {}, charge=after[charge.id]))
    for other, amount in others:
        yield from _moved_up(caller, other, amount, after[charge.id], now)
    yield from writes_of(caller, attempt, changes, after)


def _moved_up(caller: Caller, other: Dispute, amount: int, charge: Charge, now: datetime) -> Iterator[Write]:
    same = {"id": other.id, "merchant_id": other.merchant_id, "version": other.version}
    values = {"amount_withdrawn": other.amount_withdrawn + amount, "version": other.version + 1, "updated_at": now}
    yield Update(Dispute, same, values)
    yield from events.of(caller, DISPUTE_UPDATED, copy_with(other, values, charge=charge))


def _new(charge: Charge, reported: Disputed, values: dict[str, Any], now: datetime) -> Dispute:
    return Dispute(
        merchant_id=charge.merchant_id,
        livemode=charge.livemode,
        charge=charge,
        provider_ref=reported.provider_ref,
        network_ref=reported.network_ref,
        amount=reported.amount,
        currency=reported.currency,
        reason=reported.reason.value,
        network_code=reported.network_code,
        evidence_due_at=reported.evidence_due_at,
        created_at=now,
        updated_at=now,
        **values,
    )


def _values(known: Dispute, reported: Disputed, standing: Standing, money: Money, now: datetime) -> dict[str, Any]:
    """Return the new values of a known dispute. Amount and currency are those of the stage that moved money first."""
    is_about = known.money_stage == UNTOUCHED or is_first_of(known, reported, money)
    return {
        **_responds(known, reported.stage, standing),
        "amount": reported.amount if is_about else known.amount,
        "currency": reported.currency if is_about else known.currency,
        "network_ref": reported.network_ref or known.network_ref,
        "network_code": reported.network_code or known.network_code,
        "evidence_due_at": _due_at(known, reported),
        "version": known.version + 1,
        "updated_at": now,
    }


def _due_at(known: Dispute, reported: Disputed) -> datetime | None:
    """Return until when evidence is taken: a deadline that has passed is none for what is asked later."""
    if reported.stage < known.stage:
        return known.evidence_due_at or reported.evidence_due_at
    is_over = known.evidence_due_at is not None and known.evidence_due_at <= clock.now()
    is_asked = reported.stage > known.stage and STATUSES[reported.stage] in ASKS_FOR_EVIDENCE
    return reported.evidence_due_at or (None if is_over and is_asked else known.evidence_due_at)


def _is_response(known: Dispute, stage: Stage) -> bool:
    """Return whether the stage shows that the provider has the response, which may have seemed to be refused."""
    is_missing = known.response_state not in ("", Dispute.ResponseState.SENT)
    # What the bank had before it asked again is no proof of what is sent since.
    is_earlier = known.stage in ASKS_AGAIN and stage < known.stage
    return is_missing and not is_earlier and stage in RESPONSE_STAGES[known.response]


def _responds(known: Dispute, stage: Stage, standing: Standing) -> dict[str, Any]:
    """Return the new values of the response: sent, or gone where the bank asks for another one."""
    if _is_response(known, stage):
        return {"response_state": Dispute.ResponseState.SENT, "response_due_at": None, "response_why": ""}
    is_asked_again = standing.status in ASKS_FOR_EVIDENCE and standing.status != known.status
    if is_asked_again and known.response_state != Dispute.ResponseState.PENDING:
        return {"response": "", "response_state": "", "responded_at": None, "response_why": ""}
    return {}


def _fee(charge: Charge, standing: Standing) -> int:
    """Return the merchant's fee for a dispute whose money moves for the first time."""
    if standing.money_stage == UNTOUCHED:
        return 0
    rates = Merchant.objects.values_list("rates", flat=True).get(id=charge.merchant_id)
    return rate_of(rates, fees.DISPUTE, charge.currency).fixed


def _event_of(known: Dispute | None, dispute: Dispute) -> str:
    if known is None:
        return DISPUTE_CREATED
    return DISPUTE_UPDATED if dispute.status in (known.status, *Dispute.OPEN) else DISPUTE_CLOSED
