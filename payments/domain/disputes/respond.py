"""Responses to disputes: asked for once by the merchant, and sent by a worker until the provider has them."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from payments import clock
from payments.db.fast_model import copy_with
from payments.db.writes import StaleRow, Update, execute_writes
from payments.domain import bulkheads, provider_calls
from payments.domain.catalogue.error_table import DISPUTE_NOT_ANSWERABLE, EVIDENCE_MISSING
from payments.domain.catalogue.event_types import DISPUTE_UPDATED
from payments.domain.charging import attempts
from payments.domain.disputes import evidence
from payments.domain.disputes.find import authorization_of, find_open
from payments.domain.disputes.record import record
from payments.domain.due_rows import DueRows, next_lookup_at
from payments.domain.provider_calls import ProviderCall
from payments.domain.routing.candidates import provider_of
from payments.domain.shared import events, idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import busy, conflict
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.ids import public_id
from payments.models import Attempt, Dispute
from payments.models.charging.dispute import WHY_MAX_LENGTH
from payments.providers.abilities import TakesResponses
from payments.providers.base import Approved, Declined, Outcome, Rejected
from payments.providers.disputes import UNUSABLE, Disputed, DisputeResponse, Reason, Response, Stage
from payments.sensitive_data.redaction import shortened
from payments.sweeps.scope import ALL_MERCHANTS, Scope

logger = logging.getLogger("kaha.disputes")

BATCH = 20
# A lease is longer than all calls to a provider for one response.
DUE = DueRows(lease=timedelta(minutes=10), due="response_due_at")
# About a day of tries.
TRIES_MAX = 28
# From a stage on, where evidence brings a dispute, and where the acceptance of its loss does; the furthest first.
RESPONDED = {
    Stage.PREARBITRATION: (Stage.PREARBITRATION_ANSWERED, Stage.PREARBITRATION_ACCEPTED),
    Stage.ASKED_AGAIN: (Stage.EVIDENCE_AGAIN, Stage.ACCEPTED_LATER),
    Stage.NOTICE: (Stage.EVIDENCE, Stage.ACCEPTED),
    Stage.INQUIRY: (Stage.INQUIRY_ANSWERED, Stage.ACCEPTED),
}
MAY_HAVE_IT = "An earlier try may have reached the provider: look there."
Render = Callable[[Dispute], StoredAnswer]
State = Dispute.ResponseState


def submit(caller: Caller, dispute_id: str, render: Render) -> Result[Dispute]:
    """Ask for the dispute's evidence to be sent to the provider; once it is, it cannot be changed.

    Raise PaymentError `resource_missing`, `dispute_not_answerable`, `evidence_missing`, `resource_busy`, and Replay.
    """
    dispute = find_open(caller, dispute_id)
    if not evidence.rows_of(dispute).exists():
        raise conflict(EVIDENCE_MISSING, charge_id=public_id("ch", dispute.charge_id))
    return _ask_for(caller, dispute, Response.EVIDENCE, render)


def accept(caller: Caller, dispute_id: str, render: Render) -> Result[Dispute]:
    """Ask for the loss to be accepted at the provider: the payer keeps the money.

    Raise PaymentError `resource_missing`, `dispute_not_answerable`, `resource_busy`, and Replay.
    """
    dispute = find_open(caller, dispute_id)
    if dispute.status == Dispute.Status.WARNING:
        message = "No money was taken yet, so there is nothing to accept. Submit evidence, or refund the charge."
        raise conflict(DISPUTE_NOT_ANSWERABLE, message, public_id("ch", dispute.charge_id))
    return _ask_for(caller, dispute, Response.ACCEPT, render)


def _ask_for(caller: Caller, dispute: Dispute, response: Response, render: Render) -> Result[Dispute]:
    now = clock.now()
    values = {
        "response": response.value,
        "response_state": State.PENDING,
        "response_due_at": now,
        "responded_at": now,
        "response_tries": 0,
        "response_why": "",
        "version": dispute.version + 1,
        "updated_at": now,
    }
    after = copy_with(dispute, values)
    answer = render(after)
    update = Update(Dispute, _unchanged(dispute), values)
    shown = events.of(caller, DISPUTE_UPDATED, after)
    try:
        idempotency.write_once(caller, idempotency.new_record(caller, answer), update, *shown)
    except StaleRow:
        raise busy(public_id("ch", dispute.charge_id)) from None
    return Result(after, answer)


def send_due(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Send at most `limit` due responses; return how many were tried."""
    count = 0
    while count < limit and (claimed := _claim(scope)):
        _send(*claimed)
        count += 1
    return count


def _claim(scope: Scope) -> list[Dispute]:
    rows = Dispute.objects.filter(scope.within())
    return DUE.claim(rows, lambda dispute: {"response_tries": dispute.response_tries + 1})


def _send(dispute: Dispute) -> None:
    """Send a claimed response and record the outcome; an error in it does not stop the others."""
    try:
        attempt = authorization_of(dispute)
        outcome = _ask(dispute, attempt)
        match outcome:
            case Approved():
                record(attempts.reload(attempt), _stage_of(dispute))
            case Rejected(message=why) | Declined(message=why) if dispute.response_tries > 1:
                # Whether the provider refuses what it has already is unknown.
                _end(dispute, State.UNKNOWN, f"{why} {MAY_HAVE_IT}")
            case Rejected(message=why) | Declined(message=why):
                _end(dispute, State.REFUSED, why)
            case _:
                _put_off(dispute)
    except bulkheads.ProviderBusy:
        DUE.put_off(dispute, until=next_lookup_at(clock.now(), 0), response_tries=dispute.response_tries - 1)
    except Exception:
        logger.exception("response could not be recorded", extra={"dispute": public_id("dp", dispute.id)})
        _put_off(dispute)


def _ask(dispute: Dispute, attempt: Attempt) -> Outcome:
    """Send the response to the provider; return what it answers. Raise ProviderBusy, VaultError, VaultUnavailable."""
    client, response = provider_of(attempt), Response(dispute.response)
    assert isinstance(client, TakesResponses)  # nosec B101 # for the type checker: nobody could ask otherwise
    pieces = evidence.opened(dispute) if response is Response.EVIDENCE else ()
    added = evidence.consent_to(dispute) if pieces else ()
    account_id = attempt.account_id or dispute.merchant_id
    call = ProviderCall(attempt.provider, account_id, "respond", public_id("dp", dispute.id))
    asked = DisputeResponse(dispute.provider_ref, attempt.reference, response, (*pieces, *added))
    outcome = provider_calls.ask(call, lambda: client, lambda provider: provider.respond(asked))
    if added and isinstance(outcome, Rejected) and outcome.provider_code == UNUSABLE:
        # What the merchant sent may do by itself.
        asked = replace(asked, evidence=pieces)
        outcome = provider_calls.ask(call, lambda: client, lambda provider: provider.respond(asked))
    return outcome


def _stage_of(dispute: Dispute) -> Disputed:
    """Return the stage that a response which the provider has brings the dispute to."""
    begun = next(begun for begun in RESPONDED if dispute.stage >= begun)
    stage = RESPONDED[begun][dispute.response == Response.ACCEPT]
    return Disputed(dispute.provider_ref, stage, dispute.amount, dispute.currency, Reason(dispute.reason))


def _put_off(dispute: Dispute) -> None:
    if dispute.response_tries >= TRIES_MAX:
        _end(dispute, State.UNKNOWN, f"Given up after {dispute.response_tries} tries. {MAY_HAVE_IT}")
    else:
        DUE.put_off(dispute, until=next_lookup_at(clock.now(), dispute.response_tries - 1))


def _end(claimed: Dispute, state: State, why: str) -> None:
    """Record how a claimed response ended, unless another worker has claimed it or the dispute changed meanwhile."""
    rows, held = Dispute.objects.select_related("charge__source"), DUE.held(claimed)
    dispute = rows.filter(id=claimed.id, **held).first()
    if dispute is None:
        return
    values: dict[str, Any] = {
        "response_state": state,
        "response_due_at": None,
        "response_why": shortened(why, WHY_MAX_LENGTH),
        "version": dispute.version + 1,
        "updated_at": clock.now(),
    }
    update = Update(Dispute, _unchanged(dispute) | held, values)
    shown = events.of(Caller.service(dispute.charge), DISPUTE_UPDATED, copy_with(dispute, values))
    # Where it is not recorded now, the lease ends and it is sent again.
    with suppress(StaleRow):
        execute_writes(update, *shown)


def _unchanged(dispute: Dispute) -> dict[str, Any]:
    """Return what the dispute's row holds as long as nobody else changed it."""
    return {"id": dispute.id, "merchant_id": dispute.merchant_id, "version": dispute.version}
