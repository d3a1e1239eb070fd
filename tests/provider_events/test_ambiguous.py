"""A few of the charges on a bad network that `python -m tests.figures ambiguous` takes by the thousand."""

from contextlib import closing

import pytest

from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.providers.http import Connections
from tests.provider_events.live.life import live
from tests.provider_events.live.world import WORLDS
from tests.providers.sender import HASTE_SECONDS

pytestmark = pytest.mark.long

LIVES = 6


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("provider", WORLDS)
def test_whatever_happens_to_answers_nothing_is_done_twice_and_all_is_known_in_the_end(provider: str) -> None:
    with closing(Connections(HASTE_SECONDS)) as hasty:
        tallies = [live(provider, hasty, f"suite {number}") for number in range(LIVES)]
    assert [dict(tally.wrong) for tally in tallies] == [{}] * LIVES
    assert sum(tally.done["ambiguous"] for tally in tallies) >= LIVES
    assert checks.run(INVARIANTS).failures == []
