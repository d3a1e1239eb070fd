"""A few of the lost answers that `python -m tests.figures ambiguous` takes by the thousand."""

from contextlib import closing
from random import Random

import pytest

from payments.providers.http import Line
from tests.providers.ambiguity import BENCHES, HASTE_SECONDS, Tally, play


@pytest.mark.parametrize("provider", BENCHES)
def test_whatever_becomes_of_answers_nothing_is_done_twice_and_all_is_known_in_the_end(provider: str) -> None:
    with closing(Line(HASTE_SECONDS)) as hasty:
        tally = play(provider, hasty, Random(1), answers=25)
    assert tally == Tally(tally.ambiguous, tally.webhooks)
    assert tally.ambiguous == 25
