"""The schedule of tries, as a pure function."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis.strategies import floats, integers, lists, none

from payments.webhooks.retry_schedule import next_try_at

FIRST = datetime(2026, 11, 21, 1, 43, tzinfo=UTC)
MINUTE, HOUR = 60, 3600
CONTRACT = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 12 * HOUR]
UNTIL_OVER = [*CONTRACT, *[12 * HOUR] * 3]
MIDDLE = 0.5
randoms = floats(0, 1, exclude_max=True)


def delays(*spread: float) -> list[float]:
    """Return the seconds between the tries of a webhook that always fails at once, to its end."""
    found, now = [], FIRST
    while moment := next_try_at(FIRST, len(found) + 1, now, spread[len(found) % len(spread)]):
        found.append((moment - now).total_seconds())
        now = moment
    return found


def test_without_jitter_the_delays_are_those_of_the_contract_until_three_days_have_passed() -> None:
    assert delays(MIDDLE) == UNTIL_OVER


@given(lists(randoms, min_size=20, max_size=20))
def test_each_delay_is_spread_by_a_tenth_at_most_and_none_ends_after_three_days(spread: list[float]) -> None:
    found = delays(*spread)
    assert sum(found) <= timedelta(days=3).total_seconds()
    assert len(found) in (len(UNTIL_OVER), len(UNTIL_OVER) + 1)
    for delay, nominal in zip(found, [*UNTIL_OVER, 12 * HOUR], strict=False):
        assert 0.9 * nominal <= delay <= 1.1 * nominal + 1e-6


@pytest.mark.parametrize(
    ("failures", "retry_after", "expected"),
    [
        (1, 0, 5),
        (1, 4, 5),
        (1, 20, 20),
        (1, 30, 30),
        (1, 86_400, 30),
        (4, 1200, 1200),
        (9, 86_400, 12 * HOUR),
        (10, 86_400, 12 * HOUR),
        (11, 60, 12 * HOUR),
    ],
)
def test_a_receiver_gets_the_time_it_asks_for_up_to_the_step_that_follows(
    failures: int, retry_after: float, expected: float
) -> None:
    moment = next_try_at(FIRST, failures, FIRST, MIDDLE, retry_after)
    assert moment == FIRST + timedelta(seconds=expected)


@given(integers(1, 30), randoms, none() | floats(0, 1e9), floats(0, 4 * 86_400))
def test_a_try_is_neither_early_nor_later_than_the_step_that_follows_nor_after_three_days(
    failures: int, spread: float, retry_after: float | None, passed: float
) -> None:
    now = FIRST + timedelta(seconds=passed)
    moment = next_try_at(FIRST, failures, now, spread, retry_after)
    if moment is not None:
        delay, following = (CONTRACT[min(number, len(CONTRACT)) - 1] for number in (failures, failures + 1))
        assert 0.9 * delay - 0.001 <= (moment - now).total_seconds() <= max(1.1 * delay, following) + 0.001
        assert moment <= FIRST + timedelta(days=3)
