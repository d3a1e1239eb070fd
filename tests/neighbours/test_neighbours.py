"""What one merchant, a payer or anybody else does wrong is no error of anybody else's.

`python -m tests.figures neighbours` has every offence, and how long the neighbour waits.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.neighbours.offences import OFFENCES, slow_provider
from tests.neighbours.round import measure

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# Less than the slow provider takes, and far more than any answer does by itself.
TIMEOUT_SECONDS = 5
# Few of each, so that nobody has to misbehave for long to take them all where nothing bounds it.
SMALL = {"DATABASE_CONNECTIONS": "2", "WEB_THREADS": "20"}


# What is asked in the last second of these is still waited for while somebody misbehaves.
@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("hot_charge", 5),
        ("slow_provider", 5),
        ("hanging_receivers", 4),
        ("idle_bodies", 3),
        ("public_key_flood", 3),
        ("waiting_requests", 3),
        ("closed_log", 3),
        ("crowd_that_waits", 3),
        ("crowd_at_slow_provider", 3),
    ],
)
def test_a_neighbour_is_answered_without_an_error_while_somebody_misbehaves(
    name: str, seconds: float, tmp_path: Path
) -> None:
    offence = OFFENCES[name]
    if name == "slow_provider":
        offence = replace(offence, begin=partial(slow_provider, at_once=100))
    rate = {"RATE_LIMIT": "100/second"} if name == "public_key_flood" else {}
    measured = measure(tmp_path, offence, 0, seconds, TIMEOUT_SECONDS, **SMALL, **rate)
    assert not measured.disturbed.errors
    assert measured.disturbed.waits.keys() == {"ping", "ready", "list", "source", "charge", "webhook"}
