"""Threads that wait for their turn."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from payments.db.backend.connection_pool import FairQueue
from payments.embedded.processes import wait_until
from tests.concurrency import at_once

MOST = 3
LONG_SECONDS = 30


def free_turns(turns: FairQueue) -> int:
    return next(number for number in count() if not turns.begin(0))


def waiting_in(turns: FairQueue) -> int:
    return sum(len(line) for line in turns._lines.values())


def test_there_are_as_many_as_were_asked_for() -> None:
    assert free_turns(FairQueue(MOST)) == MOST


def test_a_turn_that_ends_is_free_again() -> None:
    turns = FairQueue(1)
    turns.begin(0)
    turns.end()
    assert free_turns(turns) == 1


@pytest.mark.django_db
def test_never_are_there_more_at_once_and_none_is_lost() -> None:
    turns, at_work = FairQueue(MOST), []

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


def test_a_thread_that_returns_overtakes_none_that_waits() -> None:
    turns = FairQueue(1)
    turns.begin(0)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(turns.begin, LONG_SECONDS)
        assert wait_until(lambda: waiting_in(turns) == 1, LONG_SECONDS)
        turns.end()
        assert not turns.begin(0)
        assert waiting.result()


def test_they_are_served_in_the_order_in_which_they_came() -> None:
    turns, served = FairQueue(1), []
    turns.begin(0)

    def wait(number: int) -> None:
        turns.begin(LONG_SECONDS)
        served.append(number)
        turns.end()

    with ThreadPoolExecutor(5) as threads:
        for number in range(5):
            threads.submit(wait, number)
            assert wait_until(lambda standing=number + 1: waiting_in(turns) == standing, LONG_SECONDS)
        turns.end()
    assert served == list(range(5))


def test_a_thread_that_gave_up_is_skipped() -> None:
    turns = FairQueue(1)
    turns.begin(0)
    assert not turns.begin(0.001)
    turns.end()
    assert free_turns(turns) == 1


def test_a_merchants_turn_comes_after_one_of_each_other_merchant() -> None:
    turns, served = FairQueue(1), []
    turns.begin(0)

    def wait(merchant: str | None) -> None:
        assert turns.begin(LONG_SECONDS, merchant)
        served.append(merchant)
        turns.end()

    came = [*["busy"] * 20, *["busier"] * 20, *[None] * 20, "quiet", "quiet"]
    with ThreadPoolExecutor(len(came)) as threads:
        for standing, merchant in enumerate(came, 1):
            threads.submit(wait, merchant)
            assert wait_until(lambda standing=standing: waiting_in(turns) == standing, LONG_SECONDS)
        turns.end()
    assert served[:8] == ["busy", "busier", None, "quiet"] * 2
    assert sorted(map(str, served)) == sorted(map(str, came))


def test_a_merchant_who_comes_while_others_are_served_waits_for_one_turn_of_each() -> None:
    turns, served = FairQueue(1), []
    turns.begin(0)

    def wait(merchant: str) -> None:
        assert turns.begin(LONG_SECONDS, merchant)
        served.append(merchant)

    with ThreadPoolExecutor(12) as threads:
        for standing in range(1, 11):
            threads.submit(wait, "busy")
            assert wait_until(lambda standing=standing: waiting_in(turns) == standing, LONG_SECONDS)
        turns.end()
        assert wait_until(lambda: served == ["busy"], LONG_SECONDS)
        threads.submit(wait, "quiet")
        assert wait_until(lambda: waiting_in(turns) == 10, LONG_SECONDS)
        for standing in range(2, 12):
            turns.end()
            assert wait_until(lambda standing=standing: len(served) == standing, LONG_SECONDS)
    assert served.index("quiet") == 2


def test_a_merchant_all_of_whose_requests_gave_up_is_passed_over() -> None:
    turns = FairQueue(1)
    turns.begin(0)
    assert not turns.begin(0.001, "gone")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(turns.begin, LONG_SECONDS, "here")
        assert wait_until(lambda: waiting_in(turns) == 1, LONG_SECONDS)
        turns.end()
        assert waiting.result()
