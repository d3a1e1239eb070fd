"""The circuit breaker of each route, read from its newest attempts.

Only outages count: a decline says something about the payer and nothing about the route. After OUTAGES_IN_A_ROW the
circuit opens for OPEN_FOR, and then one charge half-opens it. Charges that begin in the same moment, before that one is
on record, are probes too: each waits for an answer and risks no money, for each is asked for once.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from django.db.models.functions import JSONObject

from payments import clock
from payments.ids import first_id
from payments.models import Attempt

RECENT = timedelta(minutes=5)
SAMPLE = 20
OUTAGES_IN_A_ROW = 5
OPEN_FOR = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Health:
    """A route's newest attempts, those of them that were outages, and for how long its circuit stays open."""

    asked: int
    outages: int
    open_seconds: int

    @property
    def score(self) -> float:
        """The share without an outage; 1 where there was no attempt."""
        return 1 - self.outages / self.asked if self.asked else 1.0


def recent_attempts() -> ArraySubquery:
    """Return the annotation of a route that `health_of` reads."""
    rows = Attempt.objects.filter(route=OuterRef("pk"), id__gte=first_id(clock.now() - RECENT), block=None)
    facts = JSONObject(state="state", outage_at="outage_at", due_at="due_at")
    return ArraySubquery(rows.order_by("-id").values_list(facts)[:SAMPLE], output_field=None)


def health_of(recent: Iterable[dict[str, Any]]) -> Health:
    """Return the health of a route from its `recent_attempts`, newest first."""
    recent = list(recent)
    outages = [_moment(attempt["outage_at"]) for attempt in recent if attempt["state"] != Attempt.State.OPEN]
    open_seconds = _open_seconds(outages[:OUTAGES_IN_A_ROW], _is_half_open(recent))
    return Health(len(outages), len([moment for moment in outages if moment]), open_seconds)


def _open_seconds(newest: list[datetime | None], is_half_open: bool) -> int:
    known = [moment for moment in newest if moment]
    if len(known) < OUTAGES_IN_A_ROW:
        return 0
    left = max(known) + OPEN_FOR - clock.now()
    return max(math.ceil(left.total_seconds()), int(is_half_open), 0)


def _is_half_open(recent: list[dict[str, Any]]) -> bool:
    """Return whether an attempt by the route is under way now, whose answer will decide."""
    return any(
        attempt["state"] == Attempt.State.OPEN and (_moment(attempt["due_at"]) or clock.now()) > clock.now()
        for attempt in recent
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
