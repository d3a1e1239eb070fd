from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from payments import clock, ids

THEN = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)


def test_each_reading_is_a_tick_later() -> None:
    with clock.at(THEN):
        assert [clock.now() for _ in range(3)] == [THEN, THEN + clock.TICK, THEN + 2 * clock.TICK]


def test_afterwards_it_is_the_present_again() -> None:
    with clock.at(THEN):
        pass
    assert clock.now() - THEN > timedelta(days=100)


def test_other_threads_keep_the_present() -> None:
    with clock.at(THEN), ThreadPoolExecutor(1) as thread:
        assert thread.submit(clock.now).result() > THEN + timedelta(days=100)


def test_new_ids_have_the_moved_time_and_keep_their_order() -> None:
    with clock.at(THEN):
        made = [ids.new_id() for _ in range(50)]
    assert made == sorted(made)
    assert made[0].int >> 80 == int(THEN.timestamp() * 1000)
    assert made[-1] < ids.new_id()
