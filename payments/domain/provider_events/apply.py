"""Provider events, applied one by one: each at least once, in any order, and only ever forward."""

import json
import logging
from contextlib import suppress
from copy import copy
from datetime import timedelta

from django.db.models import Q

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.bulkheads import ProviderBusy
from payments.domain.charging import attempts, late_outcomes, record_outcome, recovery
from payments.domain.checkout import card_checks
from payments.domain.due_rows import DueRows, next_lookup_at
from payments.domain.payouts import send
from payments.domain.payouts.outcomes import Answer, CannotBeTrue
from payments.domain.provider_events import disputes
from payments.domain.provider_events.inbox import read_outcome
from payments.domain.provider_events.reasons import Ended, Later, require_same
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.models import Attempt, Charge, Dispute, Payout, ProviderEvent
from payments.models.provider_message import WHY_MAX_LENGTH
from payments.providers.base import Approved, Declined, NotSent, Outcome, Unknown
from payments.providers.disputes import Disputed, DisputeNews
from payments.providers.payouts import Paid
from payments.providers.references import FollowUp, is_check, is_trial, read_reference

logger = logging.getLogger("kaha.provider_events")

BATCH = 100
# A lease is longer than all calls to a provider for one event.
DUE = DueRows(lease=timedelta(minutes=3))
# About a day of attempts; then an operator must look. The provider's lookups continue.
TRIES_MAX = 28
DONE = (Approved.__name__, f"Late{Approved.__name__}")
FAILED_REFUND = (Declined.__name__, f"Late{Declined.__name__}")
State = ProviderEvent.State


def apply_due(limit: int = BATCH) -> int:
    """Apply at most `limit` due events; return how many were claimed."""
    count = 0
    while count < limit and (claimed := _claim()):
        _apply_alone(*claimed)
        count += 1
    return count


def _claim() -> list[ProviderEvent]:
    return DUE.claim(ProviderEvent.objects.all(), lambda event: {"tries": event.tries + 1})


def _apply_alone(event: ProviderEvent) -> None:
    """Apply a claimed event and record the result; an error in it does not stop the others."""
    try:
        _require_explained(event)
        payout = _payout_of(event)
        if payout:
            _apply_to_payout(payout)
        else:
            _apply(event)
    except Ended as reason:
        _end(event, reason.state, str(reason))
    except Later as reason:
        _put_off(event, str(reason))
    except Exception as error:
        logger.exception("provider event could not be applied", extra={"event": event.id.hex})
        _put_off(event, type(error).__name__)
    else:
        _end(event, State.APPLIED)


def _apply(event: ProviderEvent) -> None:
    """Apply an event about a payment, an operation or a dispute. Raise Ended and Later."""
    if event.outcome == DisputeNews.__name__:
        _apply_news(event)
        return
    if is_check(event.reference):
        _apply_to_check(event)
        return
    attempt, step = _meant(event)
    if event.outcome == Disputed.__name__:
        disputes.apply_stage(event, attempt)
        return
    outcome = _outcome(event, attempt, step)
    if outcome and attempt.state == Attempt.State.DONE:
        _apply_late(event, attempt, outcome)
    elif outcome:
        _record(attempt, outcome)


def _apply_news(event: ProviderEvent) -> None:
    """Look up a dispute of which there is news; the answer alone says of which payment. Raise Ended and Later."""
    found = disputes.look_up(event)
    named = copy(event)
    named.reference = found.payment_reference
    attempt, _ = _meant(named)
    disputes.apply_found(attempt, found)


def _apply_to_check(event: ProviderEvent) -> None:
    """Record the outcome of the check of a card. Raise Ended and Later."""
    checkout = card_checks.checkout_of(event.reference)
    if checkout is None:
        raise Ended(State.NOT_OURS, "A check of a card asked for it, which moves no money.")
    require_same(event, checkout.check_account_id, checkout.amount, checkout.currency)
    try:
        card_checks.record_report(checkout, read_outcome(event.outcome, event.outcome_json))
    except StaleRow:
        raise Later("It is being looked up at this moment.") from None


def _payout_of(event: ProviderEvent) -> Payout | None:
    """Return the payout that the event names; None where it names none. Raise Ended where it contradicts its payout."""
    payout_id, _ = read_reference(event.reference) or (None, None)
    payout = Payout.objects.filter(id=payout_id).first() if payout_id else None
    if payout:
        require_same(event, payout.provider_account_id, payout.amount, payout.currency)
    return payout


def _apply_to_payout(payout: Payout) -> None:
    """Look the payout up, of which an event only says that there is news, and record how it stands.

    Raise Later and Ended.
    """
    had_ended = payout.status in (Payout.Status.FAILED, Payout.Status.CANCELLED)
    try:
        answer = send.look_up(payout)
    except (ProviderBusy, StaleRow):
        raise Later("It is being sent or looked up at this moment.") from None
    except CannotBeTrue as reason:
        raise Ended(State.NEEDS_ATTENTION, str(reason)) from None
    if not isinstance(answer, Answer):
        raise Later(f"The provider does not say: {getattr(answer, 'why', type(answer).__name__)}")
    if had_ended and isinstance(answer, Paid):
        why = f"It was paid though it was {payout.status} here: the merchant's balance was charged with it again."
        raise Ended(State.NEEDS_ATTENTION, why)


def _put_off(event: ProviderEvent, why: str) -> None:
    if event.tries >= TRIES_MAX:
        _end(event, State.NEEDS_ATTENTION, f"Given up after {event.tries} tries: {why}")
    else:
        now = clock.now()
        DUE.put_off(event, until=next_lookup_at(now, event.tries - 1), why=why[:WHY_MAX_LENGTH], updated_at=now)


def _end(event: ProviderEvent, state: str, why: str = "") -> None:
    DUE.end(event, state=state, why=why[:WHY_MAX_LENGTH], updated_at=clock.now())


def _meant(event: ProviderEvent) -> tuple[Attempt, FollowUp | None]:
    """Return the attempt that the event names, reloaded, and the follow-up step if the event means that."""
    attempt_id, step = read_reference(event.reference) or (None, None)
    found = Attempt.objects.filter(id=attempt_id).first() if attempt_id else None
    if found is None:
        raise _unasked(event)
    attempt = attempts.reload(found)
    require_same(event, found.account_id, attempt.amount, attempt.charge.currency)
    return attempt, step


def _require_explained(event: ProviderEvent) -> None:
    """Raise Ended where no table of the connector names what the event says."""
    if event.outcome == Unknown.__name__:
        state = State.NEEDS_ATTENTION if _is_ours(event) else State.NOT_OURS
        raise Ended(state, json.loads(event.outcome_json)["why"])


def _is_ours(event: ProviderEvent) -> bool:
    """Whether an event names what we asked the provider for, by our name or by the provider's."""
    found = map(read_reference, (event.reference, event.payment))
    ours = [reference[0] for reference in found if reference]
    theirs = [name for name in (event.reference, event.payment, event.provider_ref) if name]
    named = Q(id__in=ours) | Q(provider_ref__in=theirs, account=event.account_id)
    if Attempt.objects.filter(named).exists() or Payout.objects.filter(id__in=ours).exists():
        return True
    return Dispute.objects.filter(provider_ref__in=theirs, merchant_id=event.merchant_id).exists()


def _unasked(event: ProviderEvent) -> Ended:
    """How an event stands that names nothing that is on record."""
    if is_trial(event.reference):
        return Ended(State.NOT_OURS, "A trial of the connection asked for it.")
    if read_reference(event.reference):
        return Ended(State.NEEDS_ATTENTION, "We asked for nothing of this name.")
    if _is_ours(event):
        return Ended(State.NEEDS_ATTENTION, "A payment of ours was changed there, and nobody asked for it here.")
    return Ended(State.NOT_OURS, "Nobody asked for it here.")


def _outcome(event: ProviderEvent, attempt: Attempt, step: FollowUp | None) -> Outcome | None:
    """Return the attempt's outcome by this event; None where the event has none."""
    if not event.outcome:
        return _found_out(event, attempt, step)
    reported = read_outcome(event.outcome, event.outcome_json)
    if step is not FollowUp.CANCEL:
        return reported
    # A payment before the cancellation has an event of its own.
    is_ended = isinstance(reported, Approved) and attempt.state != Attempt.State.DONE
    return Declined("action_expired") if is_ended else None


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
    charge, has_run_out = attempt.charge, outcome.code == "action_expired"
    is_of_hold = attempt.kind == Attempt.Kind.AUTHORIZE and charge.captured
    return has_run_out and is_of_hold and charge.amount_captured < attempt.amount


def _still_stands(attempt: Attempt) -> bool:
    """Whether we have not undone ourselves what was done. Raises Later while we may be doing so."""
    if attempt.kind != Attempt.Kind.AUTHORIZE:
        return True
    if attempt.charge.operation:
        raise Later("Another operation on the charge has not ended.")
    return attempt.charge.status in (Charge.Status.SUCCEEDED, Charge.Status.REFUNDED)
