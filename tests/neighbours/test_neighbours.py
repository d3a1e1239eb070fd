"""What one merchant, a payer or anybody else does wrong is no error of anybody else's.

`python -m tests.figures neighbours` has every offence, and how long the neighbour waits.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.neighbours.offences import OFFENCES, crowd_at_slow_provider, crowd_that_waits, slow_provider
from tests.neighbours.round import measure

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# Less than the slow provider takes, and far more than any answer does by itself.
TIMEOUT_SECONDS = 5
# Few of each, so that nobody has to misbehave for long to take them all where nothing bounds it.
SMALL = {"DATABASE_CONNECTIONS": "2", "WEB_THREADS": "20"}

# All begin at the same moment.
AT_ONCE = {
    "slow_provider": partial(slow_provider, at_once=100),
    "crowd_that_waits": partial(crowd_that_waits, begins_seconds=0),
    "crowd_at_slow_provider": partial(crowd_at_slow_provider, begins_seconds=0),
}


# What is asked in the last second of these is still waited for while somebody misbehaves.
@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("hot_charge", 5),
        ("slow_provider", 5),
        ("hanging_receivers", 4),
        ("idle_bodies", 3),
        ("public_key_flood", 3),
        ("page_flood", 3),
        ("waiting_requests", 3),
        ("hasty_assistant", 3),
        ("closed_log", 3),
        ("crowd_that_waits", 3),
        ("crowd_at_slow_provider", 3),
    ],
)
def test_a_neighbour_is_answered_without_an_error_while_somebody_misbehaves(
    name: str, seconds: float, tmp_path: Path
) -> None:
    offence = replace(OFFENCES[name], begin=AT_ONCE.get(name, OFFENCES[name].begin))
    rate = {"RATE_LIMIT": "100/second"} if name == "public_key_flood" else {}
    measured = measure(tmp_path, offence, 0, seconds, TIMEOUT_SECONDS, **SMALL, **rate)
    assert not measured.disturbed.errors
    assert measured.disturbed.waits.keys() == {"ping", "ready", "list", "source", "charge", "webhook"}
