from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from payments import clock, ids

THEN = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)


def test_it_is_the_moment_told_and_a_tick_later_each_time() -> None:
    with clock.at(THEN):
        assert [clock.now() for _ in range(3)] == [THEN, THEN + clock.TICK, THEN + 2 * clock.TICK]


def test_afterwards_it_is_the_present_again() -> None:
    with clock.at(THEN):
        pass
    assert clock.now() - THEN > timedelta(days=100)


def test_other_threads_are_told_nothing() -> None:
    with clock.at(THEN), ThreadPoolExecutor(1) as thread:
        assert thread.submit(clock.now).result() > THEN + timedelta(days=100)


def test_new_ids_are_of_the_moment_told_in_their_order() -> None:
    with clock.at(THEN):
        made = [ids.new_id() for _ in range(50)]
    assert made == sorted(made)
    assert made[0].int >> 80 == int(THEN.timestamp() * 1000)
    assert made[-1] < ids.new_id()
