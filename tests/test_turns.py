"""Threads that wait for their turn."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from config.database.turns import Turns
from config.embedded.processes import wait_until
from tests.racing import at_once

MOST = 3
LONG_SECONDS = 30


def free_turns(turns: Turns) -> int:
    return next(number for number in count() if not turns.begin(0))


def test_there_are_as_many_as_were_asked_for() -> None:
    assert free_turns(Turns(MOST)) == MOST


def test_a_turn_that_ends_is_free_again() -> None:
    turns = Turns(1)
    turns.begin(0)
    turns.end()
    assert free_turns(turns) == 1


@pytest.mark.django_db
def test_never_are_there_more_at_once_and_none_is_lost() -> None:
    turns, at_work = Turns(MOST), []

    def work(number: int) -> int:
        most = 0
        for timeout_seconds in (0, LONG_SECONDS, 0.0001) * 100:
            if turns.begin(timeout_seconds):
                at_work.append(number)
                most = max(most, len(at_work))
                at_work.remove(number)
                turns.end()
        return most

    assert max(at_once(12, work)) <= MOST
    assert free_turns(turns) == MOST


def test_whoever_comes_again_overtakes_nobody_who_waits() -> None:
    turns = Turns(1)
    turns.begin(0)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(turns.begin, LONG_SECONDS)
        assert wait_until(lambda: bool(turns._waiting), LONG_SECONDS)
        turns.end()
        assert not turns.begin(0)
        assert waiting.result()


def test_they_are_served_in_the_order_in_which_they_came() -> None:
    turns, served = Turns(1), []
    turns.begin(0)

    def wait(number: int) -> None:
        turns.begin(LONG_SECONDS)
        served.append(number)
        turns.end()

    with ThreadPoolExecutor(5) as threads:
        for number in range(5):
            threads.submit(wait, number)
            assert wait_until(lambda standing=number + 1: len(turns._waiting) == standing, LONG_SECONDS)
        turns.end()
    assert served == list(range(5))


def test_whoever_gave_up_is_not_waited_for() -> None:
    turns = Turns(1)
    turns.begin(0)
    assert not turns.begin(0.001)
    turns.end()
    assert free_turns(turns) == 1
