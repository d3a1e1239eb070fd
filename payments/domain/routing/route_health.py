"""The health of each route, read from its newest attempts, and whether its circuit is open.

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
    asked, now, is_half_open = [], clock.now(), False
    for attempt in recent:
        if attempt["state"] != Attempt.State.OPEN:
            asked.append(_moment(attempt["outage_at"]))
        elif (_moment(attempt["due_at"]) or now) > now:
            # It is under way now, and its answer will decide.
            is_half_open = True
    outages = [moment for moment in asked[:OUTAGES_IN_A_ROW] if moment]
    open_seconds = 0
    if len(outages) == OUTAGES_IN_A_ROW:
        left = max(outages) + OPEN_FOR - now
        open_seconds = max(math.ceil(left.total_seconds()), int(is_half_open), 0)
    return Health(len(asked), len([moment for moment in asked if moment]), open_seconds)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
