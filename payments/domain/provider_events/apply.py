"""Provider events, applied one by one: each at least once, in any order, and only ever forward."""

import logging
from datetime import timedelta

from payments import clock
from payments.domain.due_rows import DueRows, next_lookup_at
from payments.domain.provider_events import subjects
from payments.domain.provider_events.reasons import Ended, Later
from payments.models import ProviderEvent
from payments.models.provider_message import WHY_MAX_LENGTH
from payments.sensitive_data.redaction import shortened

logger = logging.getLogger("kaha.provider_events")

BATCH = 100
# A lease is longer than all calls to a provider for one event.
DUE = DueRows(lease=timedelta(minutes=3))
# About a day of attempts; then an operator must look. The provider's lookups continue.
TRIES_MAX = 28
State = ProviderEvent.State


def apply_due(limit: int = BATCH) -> int:
    """Apply at most `limit` due events; return how many were claimed."""
    count, events = 0, ProviderEvent.objects.all()
    while count < limit and (claimed := DUE.claim(events, lambda event: {"tries": event.tries + 1})):
        _apply_alone(*claimed)
        count += 1
    return count


def _apply_alone(event: ProviderEvent) -> None:
    """Apply a claimed event and record the result; an error in it does not stop the others."""
    try:
        subjects.apply(event)
    except Ended as reason:
        _end(event, reason.state, str(reason))
    except Later as reason:
        _put_off(event, str(reason))
    except Exception as error:
        logger.exception("provider event could not be applied", extra={"event": event.id.hex})
        _put_off(event, type(error).__name__)
    else:
        _end(event, State.APPLIED)


def _put_off(event: ProviderEvent, why: str) -> None:
    if event.tries >= TRIES_MAX:
        _end(event, State.NEEDS_ATTENTION, f"Given up after {event.tries} tries: {why}")
    else:
        now = clock.now()
        DUE.put_off(
            event, until=next_lookup_at(now, event.tries - 1), why=shortened(why, WHY_MAX_LENGTH), updated_at=now
        )


def _end(event: ProviderEvent, state: str, why: str = "") -> None:
    DUE.end(event, state=state, why=shortened(why, WHY_MAX_LENGTH), updated_at=clock.now())
