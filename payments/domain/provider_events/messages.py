"""Messages of the simulator, which has no account and stores its events itself."""

import logging
from collections.abc import Collection
from functools import partial

from payments.domain.provider_events import subjects
from payments.domain.provider_events.inbox import event_row
from payments.domain.provider_events.reasons import Ended, Later
from payments.providers.base import Unknown, WebhookEvent
from payments.providers.simulator.connector import Simulator
from payments.sweeps.in_turn import alone

BATCH = 100
logger = logging.getLogger("kaha.provider_events")


def apply_simulator_messages(limit: int = BATCH, among: Collection[str] | None = None) -> int:
    """Apply the simulator's messages, which a real provider would send by webhook; return how many.

    At most `limit`; with `among`, only those about what we call by these references.
    """
    simulator = Simulator()
    events = simulator.due_events(limit, among)
    for event in events:
        alone("apply_simulator_messages", event.key, partial(_apply, simulator, event))
    return len(events)


def _apply(simulator: Simulator, event: WebhookEvent) -> bool:
    """Apply an event and acknowledge it; return False where it must come again."""
    try:
        subjects.apply(event_row(event))
    except Later:
        return False
    except Ended as reason:
        # What no table names is our own mistake, and nothing else is.
        level = logging.ERROR if isinstance(event.outcome, Unknown) else logging.WARNING
        logger.log(level, "message was not applied", extra={"reference": event.reference, "why": str(reason)})
    simulator.acknowledge(event)
    return True
