"""A Redis that accepts connections and never answers delays only the first request."""

import time
from threading import Event, Thread

import pytest
from kombu.exceptions import OperationalError
from pytest_django import Settings
from redis import Redis
from redis import TimeoutError as TimedOut

from payments.embedded.processes import wait_until
from payments.redis_client.pipeline import RedisPipeline
from payments.redis_client.rate_counters import Counters, counters_at
from payments.webhooks.wake_up import TaskSender
from tests.client import Api
from tests.concurrency import at_once
from tests.contract.calls import order
from tests.limits.test_rate_counters import hung
from tests.support.redis_process import RedisProcess

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
