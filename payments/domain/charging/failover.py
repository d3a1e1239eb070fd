"""Failover to the next route where the previous one certainly moved no money; never after an unknown outcome."""

import logging
from collections.abc import Iterable
from contextlib import ExitStack

from django.db import DatabaseError, InterfaceError, transaction

from payments import clock
from payments.db.writes import Insert, StaleRow, Update, execute_writes
from payments.domain.bulkheads import ProviderBusy
from payments.domain.charging import attempts, record_outcome
from payments.domain.routing import candidates
from payments.domain.routing.candidates import ProviderRoute
from payments.domain.shared.caller import Caller
from payments.models import Attempt
from payments.providers.base import Declined, NotSent, Outcome, Payment

logger = logging.getLogger("kaha.routing")


def authorize(
    caller: Caller, attempt: Attempt, payment: Payment, others: Iterable[ProviderRoute], place: ExitStack
) -> tuple[Attempt, Outcome]:
    """Ask for the money by the attempt's route, then by the `others` as needed; return the last attempt, its outcome.

    `place` is held at the attempt's provider, and then at those of the others.
    """
    outcome = _ask(attempt, payment)
    for via in others:
        is_own_fault = isinstance(outcome, Declined) and outcome.retryable
        if not isinstance(outcome, NotSent) and not is_own_fault:
            break
        try:
            candidates.hold_place(place, via, caller.merchant_id)
        except ProviderBusy:
            continue
        if (fresh := _fail_over(caller, attempt, outcome, via)) is None:
            break
        attempt = fresh
        outcome = _ask(attempt, attempts.repeat_payment(payment, attempt))
    return attempt, outcome


def _ask(attempt: Attempt, payment: Payment) -> Outcome:
    return attempts.ask(attempt, lambda provider: provider.create_payment(payment))


def _fail_over(caller: Caller, attempt: Attempt, outcome: Outcome, via: ProviderRoute) -> Attempt | None:
    """Insert and return an attempt by the next route, and close the one before it.

    Return None where another process has recorded that one, or where the database refuses the write.
    """
    fresh = attempts.new_attempt(caller, attempt.charge, attempt.kind, attempt.amount, via, attempt.idempotency)
    # It names the provider: an account's title may be of any length.
    what = "could not be reached" if isinstance(outcome, NotSent) else "declined for a fault of its own"
    fresh.chosen = f"after {attempt.provider}, which {what}"
    closed = {
        "state": Attempt.State.DONE,
        "outcome": type(outcome).__name__,
        "passed_on": True,
        "outage_at": attempt.outage_at,
        "response": record_outcome.response_of(outcome),
        "provider_ref": getattr(outcome, "provider_ref", ""),
        "idempotency_id": None,
        "due_at": None,
        "updated_at": clock.now(),
    }
    try:
        # In two statements: a charge has one authorizing attempt at a time.
        with transaction.atomic():
            execute_writes(Update(Attempt, attempts.unchanged(attempt), closed))
            execute_writes(Insert(fresh))
    except StaleRow:
        return None
    except (DatabaseError, InterfaceError):
        logger.exception("charge could not fail over to another route", extra={"attempt": attempt.reference})
        return None
    return fresh
