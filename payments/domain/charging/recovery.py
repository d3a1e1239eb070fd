"""Recovery: unknown outcomes, processes that died, payers who never came, and money that arrived late.

Every sweep may run at any time, in any number of processes: rows are claimed by moving their `due_at` ahead. All
outcomes go through `record_outcome.record`, or through `late_outcomes.apply` where one is on record already.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from django.db.models import F, Q, QuerySet

from payments import clock
from payments.domain import bulkheads
from payments.domain.charging import attempts, late_outcomes, record_outcome
from payments.domain.due_rows import DueRows, next_lookup_at, next_second_look_at
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.models import Attempt, Charge, ProviderEvent
from payments.models.charging.attempt import SECOND_LOOKS
from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotFound,
    NotSent,
    Operation,
    Outcome,
    Pending,
    Provider,
    Rejected,
    Unknown,
    WebhookEvent,
)
from payments.providers.references import FollowUp
from payments.sweeps.scope import ALL_MERCHANTS, Scope

logger = logging.getLogger("kaha.recovery")

BATCH = 100
EXPIRED = "action_expired"
# Without a lease: the claim of an attempt lasts until its next lookup.
DUE = DueRows(same=("merchant_id", "state"))


def resolve_due(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Look up at most `limit` attempts that are due; return how many."""
    due = _askable(scope).filter(due_at__lte=clock.now()).order_by("due_at")[:limit]
    return sum(_resolve_alone(attempt) for attempt in due) if due.exists() else 0


def make_due(before: datetime) -> int:
    """Make everything that was asked before this moment, and has no outcome, due now; return how many."""
    lost = Attempt.objects.filter(state__in=[Attempt.State.UNKNOWN, Attempt.State.WAITING], created_at__lt=before)
    return lost.filter(due_at__gt=clock.now()).update(due_at=clock.now())


def expire_actions(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Cancel at most `limit` payments whose action has expired, as `resolve_due` does too; return how many."""
    due = _askable(scope).filter(
        kind=Attempt.Kind.AUTHORIZE,
        state=Attempt.State.WAITING,
        due_at__lte=clock.now(),
        charge__action_expires_at__lte=clock.now(),
    )
    return sum(_resolve_alone(attempt) for attempt in due[:limit])


def unresolved() -> int:
    """Return how many attempts have no outcome and no process that asks."""
    return _left_unresolved().count()


def resolve(attempt: Attempt, over: str = EXPIRED) -> bool:
    """Look `attempt` up at its provider and record the outcome. Return False when another process does so.

    A payment that is cancelled because its action is `over` fails with this code. Raise ProviderBusy, with nothing
    written.
    """
    with attempts.place_of(attempt):
        if not _claim(attempt):
            return False
        claimed, attempt = attempt, attempts.reload(attempt)
        if attempt.state != claimed.state:
            # A provider's webhook was faster, and some lookups would cancel what it reported.
            return True
        outcome = look_up_outcome(attempt, over)
        if isinstance(outcome, NotSent):
            return True
        if attempt.state == Attempt.State.DONE:
            _take_second_look(attempt, outcome)
        else:
            # A refusal is the answer to the first request: it is stored for it, or its key is free again.
            with suppress(PaymentError):
                record_outcome.record(Caller.service(attempt.charge), attempt, outcome)
    logger.info("attempt resolved", extra={"attempt": attempt.reference, "outcome": type(outcome).__name__})
    return True


def look_up_outcome(attempt: Attempt, over: str = EXPIRED) -> Outcome:
    """Return the outcome of `attempt` at its provider; a refused lookup is an unknown outcome.

    It sends late money back, and cancels a payment whose action has expired.
    """
    outcome = attempts.look_up(attempt, lambda provider: _ask(provider, attempt, over))
    if isinstance(outcome, Rejected):
        return Unknown(f"the lookup was refused: {outcome.provider_code} {outcome.message}".rstrip())
    return outcome


def _take_second_look(attempt: Attempt, outcome: Outcome) -> None:
    """Record what the provider says now of an attempt that was given up; the last conclusive lookup is the end."""
    is_over = late_outcomes.apply(attempt, outcome)
    # A hold is captured once: where another capture was done, a provider may have no answer about this one.
    captures = Attempt.objects.filter(charge_id=attempt.charge_id, kind=Attempt.Kind.CAPTURE, outcome=Approved.__name__)
    is_conclusive = isinstance(outcome, Approved | Declined | NotFound) or (
        attempt.kind == Attempt.Kind.CAPTURE and captures.exists()
    )
    if is_over and is_conclusive and attempt.tries >= SECOND_LOOKS:
        own = Attempt.objects.filter(id=attempt.id, merchant_id=attempt.merchant_id)
        rows = own.filter(outcome=NotFound.__name__, tries=attempt.tries)
        rows.update(due_at=None)


def _resolve_alone(attempt: Attempt) -> bool:
    """Resolve one attempt of a sweep; log its failure, so that the others are resolved too."""
    try:
        return resolve(attempt)
    except bulkheads.ProviderBusy:
        # It stays due.
        return False
    except Exception:
        logger.exception("attempt could not be resolved", extra={"attempt": attempt.reference})
        return False


def is_resolved(charge: Charge) -> bool:
    """Return whether no unresolved attempt can block an operation on `charge`."""
    return not charge.operation and charge.status != Charge.Status.PENDING


def resolve_before(charge: Charge) -> bool:
    """Look up the unresolved attempt that blocks an operation on `charge`; return False when it stays unknown.

    An attempt that a live process is still asking is left to it. Raise ProviderBusy.
    """
    attempt = _left_unresolved().filter(charge_id=charge.id).exclude(kind=Attempt.Kind.REVERSE).first()
    if attempt is None:
        return True
    attempt.charge = charge
    resolve(attempt)
    return not Attempt.objects.filter(id=attempt.id, state=Attempt.State.UNKNOWN).exists()


def apply_event(event: WebhookEvent) -> None:
    """Record what a provider reported. Late, repeated and unknown messages move nothing backwards."""
    found = Attempt.objects.filter(id=event.reference).first()
    if found is None:
        logger.warning("event of an unknown reference", extra={"attempt": event.reference})
        return
    attempt = attempts.reload(found)
    # Where the provider has two payments of our name, only one was paid.
    attempt.provider_ref = event.provider_ref or attempt.provider_ref
    outcome = event.outcome or look_up_outcome(attempt)
    if attempt.state != Attempt.State.DONE:
        record_outcome.record(Caller.service(attempt.charge), attempt, outcome)
    else:
        late_outcomes.apply(attempt, outcome)


def _askable(scope: Scope) -> QuerySet[Attempt]:
    """Return the attempts whose providers are not busy: those of a slow one must not fill a sweep's batch."""
    rows = Attempt.objects.filter(scope.within("charge__")).select_related("charge")
    busy = bulkheads.busy_providers()
    return rows.exclude(provider__in=busy) if busy else rows


def _left_unresolved() -> QuerySet[Attempt]:
    """Return the attempts without an outcome that no live process is asking for."""
    unknown, abandoned = Q(state=Attempt.State.UNKNOWN), Q(state=Attempt.State.OPEN, due_at__lte=clock.now())
    return Attempt.objects.filter(unknown | abandoned)


def _claim(attempt: Attempt) -> bool:
    """Put the attempt off until its next lookup; return False where another process has."""
    next_at = next_second_look_at if attempt.state == Attempt.State.DONE else next_lookup_at
    return bool(DUE.put_off(attempt, until=next_at(clock.now(), attempt.tries + 1), tries=F("tries") + 1))


def _ask(provider: Provider, attempt: Attempt, over: str) -> Outcome:
    if attempt.kind == Attempt.Kind.REVERSE:
        return _reverse(provider, attempt)
    if attempt.kind != Attempt.Kind.AUTHORIZE:
        return provider.resolve(attempts.operation_of(attempt))
    payment = attempts.payment_of(attempt)
    outcome = provider.resolve(payment)
    expires_at = attempt.charge.action_expires_at
    if not isinstance(outcome, ActionRequired | Pending) or not expires_at or expires_at > clock.now():
        return outcome
    # Cancelled at the provider first, so that a late payer cannot pay any more.
    cancelled = provider.cancel(attempts.follow_up(attempt, FollowUp.CANCEL))
    if isinstance(cancelled, Approved | NotFound):
        return Declined(over)
    # A payer who decided during the cancellation was in time.
    return provider.resolve(payment) if isinstance(cancelled, Declined) else outcome


def _reverse(provider: Provider, attempt: Attempt) -> Outcome:
    """Send late money back: by a void, or by a refund where the provider no longer voids."""
    # The provider may have declined the void later, by a webhook, after it had first answered `pending`.
    events = ProviderEvent.objects.filter(reference=attempt.reference, account_id=attempt.account_id)
    if attempt.account_id is None or not events.filter(outcome=Declined.__name__).exists():
        outcome = _ask_or_resolve(provider, attempt, provider.void, attempts.operation_of(attempt))
        if not isinstance(outcome, Declined):
            return outcome
    return _ask_or_resolve(provider, attempt, provider.refund, attempts.follow_up(attempt, FollowUp.REFUND))


def _ask_or_resolve(
    provider: Provider, attempt: Attempt, ask: Callable[[Operation], Outcome], operation: Operation
) -> Outcome:
    # An earlier call may have been done, and providers refuse to do it twice.
    if attempt.tries > 1 or attempt.state != Attempt.State.OPEN:
        outcome = provider.resolve(operation)
        if not isinstance(outcome, NotFound):
            return outcome
    return ask(operation)
