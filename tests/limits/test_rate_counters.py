"""Counters in windows: in Redis while it answers, in the process otherwise, and never slower than its first wait."""

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from kombu.exceptions import OperationalError
from pytest_django import Settings
from redis import Redis, RedisError
from redis import TimeoutError as TimedOut

from payments import clock
from payments.embedded import redis_server
from payments.embedded.processes import wait_until
from payments.redis_client import rate_counters
from payments.redis_client.pipeline import RedisPipeline
from payments.redis_client.rate_counters import Counters, MemoryCounters, Window, counters_at, parse_rate
from payments.webhooks.wake_up import TaskSender
from tests.client import Api
from tests.concurrency import at_once
from tests.contract.calls import order
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


def test_each_command_has_its_answer(who: str) -> None:
    assert RedisPipeline(settings.REDIS_URL).ask([("INCR", who), ("EXPIRE", who, 60), ("GET", who)]) == [1, 1, b"1"]


def test_the_command_after_a_refused_one_has_its_own_answer(who: str) -> None:
    line = RedisPipeline(settings.REDIS_URL)
    with pytest.raises(RedisError):
        line.ask([("NO-SUCH-COMMAND",), ("SET", who, "left unread")])
    assert line.ask([("PING",)]) == [b"PONG"]


def test_a_restarted_redis_is_reconnected(own_redis: RedisProcess) -> None:
    own_redis.start()
    line = RedisPipeline(own_redis.url)
    line.ask([("PING",)])
    own_redis.stop()
    own_redis.start()
    assert line.ask([("PING",)]) == [b"PONG"]


def test_a_redis_that_has_made_its_socket_and_takes_no_connections_yet_is_not_ready(own_redis: RedisProcess) -> None:
    with socket.socket(socket.AF_UNIX) as begun:
        begun.bind(str(own_redis.folders.redis_socket))
        assert not redis_server.is_ready(own_redis.folders)
        begun.listen()
        assert redis_server.is_ready(own_redis.folders)


def test_threads_do_not_read_each_others_answers() -> None:
    line = RedisPipeline(settings.REDIS_URL)

    def asked(number: int) -> list[Any]:
        return [line.ask([("ECHO", number)]) for _ in range(50)]

    assert at_once(8, asked) == [[[str(number).encode()]] * 50 for number in range(8)]


THREADS = 16


def connections_of(redis: RedisProcess) -> int:
    """Return how many connections Redis has received."""
    with Redis.from_url(redis.url) as client:
        return int(client.info("stats")["total_connections_received"])


@pytest.mark.long
def test_after_the_first_no_request_asks_a_redis_that_hangs(own_redis: RedisProcess, who: str) -> None:
    own_redis.start()
    counters, before = Counters(own_redis.url, retry_seconds=600), connections_of(own_redis)
    with hung(own_redis):
        counters.increment(who, 60)
        counted = at_once(THREADS, lambda _: counters.increment(who, 60))
    assert sorted(counted) == list(range(2, THREADS + 2))
    # The first one, and this question.
    assert connections_of(own_redis) - before == 2


@pytest.mark.long
def test_the_first_to_find_that_redis_hangs_waits_once(own_redis: RedisProcess, who: str) -> None:
    own_redis.start()
    line, before = RedisPipeline(own_redis.url), connections_of(own_redis)
    with hung(own_redis), pytest.raises(TimedOut):
        line.ask([("INCR", who)])
    assert connections_of(own_redis) - before == 2


@pytest.mark.long
def test_the_url_does_not_set_the_time_limit(own_redis: RedisProcess, who: str) -> None:
    own_redis.start()
    line = RedisPipeline(f"{own_redis.url}?socket_timeout=600")
    started = time.monotonic()
    with hung(own_redis), pytest.raises(TimedOut):
        line.ask([("INCR", who)])
    assert time.monotonic() - started < 60


@pytest.mark.long
def test_redis_counts_again_after_it_resumes(own_redis: RedisProcess, who: str) -> None:
    own_redis.start()
    counters = Counters(own_redis.url, retry_seconds=0.05)
    counters.increment(who, 60)
    with hung(own_redis):
        counters.increment(f"{who}/meanwhile", 60)
    redis = Redis.from_url(own_redis.url)
    assert wait_until(lambda: bool(counters.increment(who, 60)) and int(redis.get(f"kaha:{who}") or 0) > 1, 10)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_requests_are_answered_while_redis_hangs(api: Api, settings: Settings, own_redis: RedisProcess) -> None:
    settings.REDIS_URL = own_redis.url
    own_redis.start()
    counters_at(own_redis.url)
    sources = [api.source() for _ in range(8)]
    with hung(own_redis):
        answers = at_once(8, lambda number: api.post("/charges/", order(sources[number])))
    assert [answer.status_code for answer in answers] == [201] * 8


@pytest.mark.long
def test_waking_a_worker_fails_while_redis_hangs(own_redis: RedisProcess) -> None:
    own_redis.start()
    failed: list[BaseException] = []
    ended = Event()

    def wake() -> None:
        try:
            TaskSender(own_redis.url.replace("unix://", "redis+socket://"))()
        except OperationalError as error:
            failed.append(error)
        ended.set()

    with hung(own_redis):
        Thread(target=wake, daemon=True).start()
        assert ended.wait(60)
    assert failed
