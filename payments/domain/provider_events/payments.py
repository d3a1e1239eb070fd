"""Provider events about payments and operations on them: which outcome each means, and how that is recorded."""

from contextlib import suppress
from copy import copy

from payments import clock
from payments.domain.charging import attempts, late_outcomes, record_outcome, recovery
from payments.domain.charging.outcome_rules import action_ends_at
from payments.domain.provider_events.inbox import read_outcome
from payments.domain.provider_events.reasons import Ended, Later
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.models import Attempt, Charge, ProviderEvent
from payments.providers.base import Approved, Declined, NotSent, Outcome, Unknown
from payments.providers.references import FollowUp

DONE = (Approved.__name__, f"Late{Approved.__name__}")
FAILED_REFUND = (Declined.__name__, f"Late{Declined.__name__}")
State = ProviderEvent.State


def record(event: ProviderEvent, named: tuple[Attempt, FollowUp | None]) -> None:
    """Record the outcome of the attempt that an event names, or of a follow-up step of it. Raise Ended and Later."""
    attempt, step = named
    outcome = _outcome(event, attempt, step)
    if outcome and attempt.state == Attempt.State.DONE:
        _apply_late(event, attempt, outcome)
    elif outcome:
        _record(attempt, outcome)


def _outcome(event: ProviderEvent, attempt: Attempt, step: FollowUp | None) -> Outcome | None:
    """Return the attempt's outcome by this event; None where the event has none."""
    if not event.outcome:
        return _found_out(event, attempt, step)
    reported = read_outcome(event.outcome, event.outcome_json)
    if step is not FollowUp.CANCEL:
        return reported
    # A payment before the cancellation has an event of its own.
    is_ended = isinstance(reported, Approved) and attempt.state != Attempt.State.DONE
    return Declined(_why_cancelled(attempt.charge)) if is_ended else None


def _why_cancelled(charge: Charge) -> str:
    """Return why we ended a payment: only a payer who gives up brings the end of the action forward."""
    ends_at = charge.action_expires_at
    return "payer_cancelled" if ends_at and ends_at < action_ends_at(charge) else recovery.EXPIRED


def _found_out(event: ProviderEvent, attempt: Attempt, step: FollowUp | None) -> Outcome | None:
    if attempt.kind == Attempt.Kind.REVERSE and attempt.state == Attempt.State.DONE:
        return None
    if attempt.state == Attempt.State.OPEN and attempt.due_at and attempt.due_at > clock.now():
        raise Later("It is being asked for at this moment.")
    asked = copy(attempt)
    if step is None:
        asked.provider_ref = attempt.provider_ref or event.provider_ref
    outcome = recovery.look_up_outcome(asked)
    if isinstance(outcome, Unknown | NotSent):
        raise Later(f"The provider does not say: {outcome.why}")
    return outcome


def _record(attempt: Attempt, outcome: Outcome) -> None:
    # A refusal is stored for the first request, or its key is free again.
    with suppress(PaymentError):
        record_outcome.record(Caller.service(attempt.charge), attempt, outcome)
    attempt.refresh_from_db(fields=["state"])
    is_final = isinstance(outcome, Approved | Declined) and attempt.kind != Attempt.Kind.REVERSE
    if is_final and attempt.state != Attempt.State.DONE:
        raise Later("It could not be recorded.")


def _apply_late(event: ProviderEvent, attempt: Attempt, outcome: Outcome) -> None:
    if not late_outcomes.apply(attempt, outcome):
        raise Later("Another operation on the charge has not ended.")
    attempt = attempts.reload(attempt)
    is_done = attempt.outcome in DONE
    if isinstance(outcome, Approved) and not is_done:
        if event.outcome and attempt.outcome in FAILED_REFUND and attempt.refund_id:
            raise Ended(State.NO_NEWS, "The provider reports refunds as made until they fail, and this one had failed.")
        raise Ended(State.NEEDS_ATTENTION, f"The provider says that it was done, and {attempt.outcome} is on record.")
    if isinstance(outcome, Declined) and is_done and _still_stands(attempt):
        if _is_about_the_rest(attempt, outcome):
            raise Ended(State.NO_NEWS, "What was not captured of the hold ran out.")
        why = outcome.message or outcome.provider_code or outcome.code
        raise Ended(State.NEEDS_ATTENTION, f"It was done, and the provider says now that it failed: {why}")


def _is_about_the_rest(attempt: Attempt, outcome: Declined) -> bool:
    """Whether it says no more than that what is left of a hold ran out, which was captured in part."""
    charge, has_run_out = attempt.charge, outcome.code == recovery.EXPIRED
    is_of_hold = attempt.kind == Attempt.Kind.AUTHORIZE and charge.captured
    return has_run_out and is_of_hold and charge.amount_captured < attempt.amount


def _still_stands(attempt: Attempt) -> bool:
    """Whether we have not undone ourselves what was done. Raises Later while we may be doing so."""
    if attempt.kind != Attempt.Kind.AUTHORIZE:
        return True
    if attempt.charge.operation:
        raise Later("Another operation on the charge has not ended.")
    return attempt.charge.status in (Charge.Status.SUCCEEDED, Charge.Status.REFUNDED)
