"""How well a route did of late, and whether it is left alone for a while: read from the attempts that went by it.

Declines tell of payers and not of routes; what counts is whether the provider could be reached and answered.

After a rest the next charge is a probe. Those that begin in the same moment, before it is on record, are probes too:
that costs each of them the wait for an answer and no money, for each is a charge of its own, asked for once.
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
# After so many outages in a row a route rests, and then the next attempt is a probe.
OUTAGES_IN_A_ROW = 5
REST = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Health:
    """A route's newest attempts: how many had an answer or an outage, how many an outage; for how long it rests."""

    asked: int
    outages: int
    rests_seconds: int

    @property
    def score(self) -> float:
        """The share without an outage; 1 where nobody asked."""
        return 1 - self.outages / self.asked if self.asked else 1.0


def recent_attempts() -> ArraySubquery:
    """The annotation of a route by which `health_of` knows it."""
    rows = Attempt.objects.filter(route=OuterRef("pk"), id__gte=first_id(clock.now() - RECENT), block=None)
    facts = JSONObject(state="state", outage_at="outage_at", due_at="due_at")
    return ArraySubquery(rows.order_by("-id").values_list(facts)[:SAMPLE], output_field=None)


def health_of(recent: Iterable[dict[str, Any]]) -> Health:
    """Of a route's `recent_attempts`, newest first."""
    recent = list(recent)
    outages = [_moment(attempt["outage_at"]) for attempt in recent if attempt["state"] != Attempt.State.OPEN]
    resting = _rests_seconds(outages[:OUTAGES_IN_A_ROW], _is_probed(recent))
    return Health(len(outages), len([moment for moment in outages if moment]), resting)


def _rests_seconds(newest: list[datetime | None], is_probed: bool) -> int:
    known = [moment for moment in newest if moment]
    if len(known) < OUTAGES_IN_A_ROW:
        return 0
    left = max(known) + REST - clock.now()
    return max(math.ceil(left.total_seconds()), int(is_probed), 0)


def _is_probed(recent: list[dict[str, Any]]) -> bool:
    """Whether somebody is asking by the route just now, and will tell how it is."""
    return any(
        attempt["state"] == Attempt.State.OPEN and (_moment(attempt["due_at"]) or clock.now()) > clock.now()
        for attempt in recent
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
