"""Counters in windows: in Redis while it answers, and in the process otherwise."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings
from redis import Redis

from payments import clock
from payments.embedded.processes import wait_until
from payments.redis_client import rate_counters
from payments.redis_client.rate_counters import Counters, MemoryCounters, Window, parse_rate
from tests.concurrency import at_once
from tests.support.redis_process import RedisProcess

AWAY = "redis://127.0.0.1:1/0"
both = pytest.mark.parametrize("url", [settings.REDIS_URL, AWAY], ids=["redis", "memory"])


@both
def test_reading_changes_nothing(url: str, who: str) -> None:
    counters = Counters(url)
    assert [counters.read(who), counters.increment(who, 60), counters.read(who), counters.read(who)] == [0, 1, 1, 1]


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Let Python switch threads as often as possible."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.long
@both
def test_threads_that_open_a_window_together_are_all_counted(hasty_threads: None, url: str, who: str) -> None:
    counters = Counters(url)
    for window in range(100):
        counted = at_once(8, lambda _, key=f"{who}/{window}": counters.increment(key, 60))
        assert sorted(counted) == list(range(1, 9))


@pytest.mark.parametrize(
    ("text", "count_and_seconds"),
    [
        ("300/second", (300, 1)),
        ("10 per 5 minutes", (10, 300)),
        (" 5 / 2HOUR ", (5, 7_200)),
        ("1/month", (1, 30 * 86_400)),
        ("0/day", (0, 86_400)),
    ],
)
def test_a_rate_is_so_many_requests_in_a_time(text: str, count_and_seconds: tuple[int, int]) -> None:
    assert parse_rate(text) == count_and_seconds


@pytest.mark.parametrize("text", ["", "lots", "30 a second", "-1/second", "5/second; 100/minute", "1/fortnight"])
def test_anything_else_is_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match="is no rate such as 300/second"):
        parse_rate(text)


def test_the_memory_forgets_what_has_expired_before_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(rate_counters, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(rate_counters, "MEMORY_CLEANED_AT", 10)
    counters = MemoryCounters()
    for second in range(100):
        now = 1000.0 + second
        assert counters.count([(f"who/{second}", 1)]) == [1]
    assert len(counters._counts) <= 11
    assert counters.count([("who/99", 0), ("who/98", 0)]) == [1, 0]


def test_two_processes_count_together(who: str) -> None:
    first, second = Counters(settings.REDIS_URL), Counters(settings.REDIS_URL)
    first.increment(who, 60)
    assert second.increment(who, 60) == 2


def test_redis_counts_while_it_answers(own_redis: RedisProcess, who: str) -> None:
    counters = Counters(own_redis.url, retry_seconds=0.05)
    assert [counters.increment(who, 60) for _ in range(3)] == [1, 2, 3]
    own_redis.start()
    # A busy machine may not connect in time at first.
    assert wait_until(lambda: counters.increment(who, 60) == 1, 10)
    assert counters.increment(who, 60) == 2
    own_redis.stop()
    assert counters.increment(who, 60) >= 4
    counters.breaker.close()


def test_a_redis_that_failed_is_not_asked_for_a_while(own_redis: RedisProcess, who: str) -> None:
    counters = Counters(own_redis.url, retry_seconds=60)
    assert counters.increment(who, 60) == 1
    own_redis.start()
    assert counters.increment(who, 60) == 2


@contextmanager
def hung(redis: RedisProcess) -> Iterator[None]:
    redis.program.pause()
    try:
        yield
    finally:
        redis.program.resume()


@pytest.mark.long
def test_a_redis_that_hangs_counts_as_failed(own_redis: RedisProcess, who: str) -> None:
    own_redis.start()
    counters = Counters(own_redis.url)
    assert [counters.increment(who, 60) for _ in range(2)] == [1, 2]
    with hung(own_redis):
        assert [counters.increment(who, 60) for _ in range(3)] == [1, 2, 3]


def test_a_redis_that_refuses_writes_counts_as_failed(own_redis: RedisProcess, who: str) -> None:
    own_redis.start()
    counters = Counters(own_redis.url)
    counters.increment(who, 60)
    Redis.from_url(own_redis.url).config_set("maxmemory", "1")
    assert [counters.increment(who, 60) for _ in range(3)] == [1, 2, 3]


def test_a_window_holds_the_present_and_the_next_begins_where_it_ends() -> None:
    before, window, after = clock.now(), Window.present(3600), clock.now()
    assert window.starts_at <= after
    assert before < window.starts_at + timedelta(hours=1)
    assert window.starts_at.minute == window.starts_at.second == 0
    assert 0 < window.ends_in_seconds <= 3600


def test_each_window_counts_for_itself() -> None:
    hour, day = Window.present(3600), Window.present(86_400)
    earlier = Window(3600, hour.starts_at - timedelta(hours=1), 0)
    assert len({hour.key("me"), day.key("me"), earlier.key("me"), hour.key("you")}) == 4
