"""A charge goes on to the next route where the one before certainly moved no money; never after an unknown outcome."""

import logging
from collections.abc import Iterable
from contextlib import ExitStack

from django.db import DatabaseError, InterfaceError, transaction

from payments import clock
from payments.db.writes import Insert, StaleRow, Update, write_together
from payments.domain.bulkheads import ProviderBusy
from payments.domain.caller import Caller
from payments.domain.charging import attempts, record_outcome
from payments.domain.routing import candidates
from payments.domain.routing.candidates import Way
from payments.models import Attempt
from payments.providers.base import Declined, NotSent, Outcome, Payment

logger = logging.getLogger("kaha.routing")


def take(
    caller: Caller, attempt: Attempt, payment: Payment, others: Iterable[Way], place: ExitStack
) -> tuple[Attempt, Outcome]:
    """Asks for the money by the attempt's way, then by the `others` as far as needed: the last attempt, its outcome.

    `place` is that of the attempt's way, and is given up for those of the others.
    """
    outcome = _ask(attempt, payment)
    for way in others:
        if not _moved_nothing(outcome):
            break
        try:
            candidates.take_place(place, way, caller.merchant_id)
        except ProviderBusy:
            continue
        if (fresh := _pass_on(caller, attempt, outcome, way)) is None:
            break
        attempt = fresh
        outcome = _ask(attempt, attempts.asked_again(payment, attempt))
    return attempt, outcome


def _ask(attempt: Attempt, payment: Payment) -> Outcome:
    return attempts.ask(attempt, lambda provider: provider.create_payment(payment))


def _moved_nothing(outcome: Outcome) -> bool:
    """Whether another provider may be asked: this one never heard of it, or says that the fault is not the payer's."""
    return isinstance(outcome, NotSent) or (isinstance(outcome, Declined) and outcome.retryable)


def _pass_on(caller: Caller, attempt: Attempt, outcome: Outcome, way: Way) -> Attempt | None:
    """The attempt by the next way, on record in place of the one before.

    None where somebody else has recorded that one, or where the database does not take it.
    """
    fresh = attempts.new_attempt(caller, attempt.charge, attempt.kind, attempt.amount, way, attempt.idempotency)
    fresh.chosen = _why(attempt, outcome)
    try:
        # One after the other, for a charge has one attempt at its money at a time.
        with transaction.atomic():
            write_together(_closed(attempt, outcome))
            write_together(Insert(fresh))
    except StaleRow:
        return None
    except (DatabaseError, InterfaceError):
        logger.exception("charge could not go on to another route", extra={"attempt": attempt.reference})
        return None
    return fresh


def _closed(attempt: Attempt, outcome: Outcome) -> Update:
    values = {
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
    return Update(Attempt, attempts.in_hand(attempt), values)


def _why(attempt: Attempt, outcome: Outcome) -> str:
    """Names the provider and not the account's title, which may be of any length."""
    what = "could not be reached" if isinstance(outcome, NotSent) else "declined for a fault of its own"
    return f"after {attempt.provider}, which {what}"
