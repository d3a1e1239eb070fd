"""Messages of the simulator, applied to charges, payouts and checks of cards."""

import logging
from collections.abc import Collection
from functools import partial

from payments.db.writes import StaleRow
from payments.domain.bulkheads import ProviderBusy
from payments.domain.charging import attempts, recovery
from payments.domain.checkout import card_checks
from payments.domain.disputes import record as disputes
from payments.domain.payouts import send
from payments.domain.payouts.outcomes import CannotBeTrue
from payments.models import Attempt, Payout
from payments.providers.base import NotSent, Unknown, WebhookEvent
from payments.providers.disputes import Disputed
from payments.providers.references import is_check
from payments.providers.simulator.connector import Simulator
from payments.sweeps.in_turn import alone

BATCH = 100
logger = logging.getLogger("kaha.disputes")


def apply_simulator_messages(limit: int = BATCH, among: Collection[str] | None = None) -> int:
    """Apply the simulator's messages, which a real provider would send by webhook; return how many.

    At most `limit`; with `among`, only those about what we call by these references.
    """
    simulator = Simulator()
    events = simulator.due_events(limit, among)

    def apply(event: WebhookEvent) -> bool:
        is_applied = _apply(event)
        if is_applied:
            simulator.acknowledge(event)
        return is_applied

    for event in events:
        alone("apply_simulator_messages", event.key, partial(apply, event))
    return len(events)


def _apply(event: WebhookEvent) -> bool:
    """Apply an event; return False where it must come again."""
    if isinstance(event.outcome, Unknown):
        logger.error("message that no table names", extra={"attempt": event.reference, "why": event.outcome.why})
        return True
    if is_check(event.reference):
        return _record_check(event)
    if event.dispute is None and event.outcome is None:
        return _look_up_payout(event)
    if not isinstance(event.dispute, Disputed):
        recovery.apply_event(event)
        return True
    try:
        why = disputes.record(attempts.reload(Attempt.objects.get(id=event.reference)), event.dispute)
    except disputes.NotNow:
        return False
    except disputes.CannotBeTrue as reason:
        why = str(reason)
    if why:
        logger.warning("dispute is not as its charge", extra={"attempt": event.reference, "why": why})
    return True


def _record_check(event: WebhookEvent) -> bool:
    """Record the outcome of the check that an event names; return False where it must come again."""
    checkout = card_checks.checkout_of(event.reference)
    try:
        if checkout and event.outcome:
            card_checks.record_report(checkout, event.outcome)
    except StaleRow:
        return False
    return True


def _look_up_payout(event: WebhookEvent) -> bool:
    """Look up the payout that an event names; return False where it must come again."""
    payout = Payout.objects.filter(id=event.reference).first()
    if payout is None:
        logger.warning("event of an unknown payout", extra={"payout": event.reference})
        return True
    try:
        answer = send.look_up(payout)
    except (ProviderBusy, StaleRow):
        return False
    except CannotBeTrue as reason:
        logger.warning("payout contradicts its provider", extra={"payout": event.reference, "why": str(reason)})
        return True
    return not isinstance(answer, NotSent | Unknown)
