"""Counts in fixed windows of time: in Redis, by all processes together.

The library's storages count; its strategies would ask Redis three times for what one increment tells.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from math import ceil
from threading import Lock
from typing import Self

from limits.storage import MemoryStorage, RedisStorage
from redis import ConnectionPool, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from payments import clock

logger = logging.getLogger("kaha.counting")

REDIS_RETRY_SECONDS = 5.0
REDIS_TIMEOUT_SECONDS = 0.5

Storage = MemoryStorage | RedisStorage


class Counters:
    """Counts in Redis; while Redis is away, in this process alone, so that nothing is ever unlimited."""

    def __init__(self, redis_url: str, retry_seconds: float = REDIS_RETRY_SECONDS) -> None:
        self.redis_url = redis_url
        self.retry_seconds = retry_seconds
        self._redis_due = 0.0
        # The library's own locks lose a count where two threads begin a window at once.
        self._memory_lock = Lock()

    def increment(self, key: str, window_seconds: int) -> int:
        """Adds one to `key`, which is forgotten `window_seconds` after its first one; returns the sum."""
        return self._count(lambda storage: storage.incr(key, window_seconds))

    def read(self, key: str) -> int:
        """The sum of `key`, which stays as it is."""
        return self._count(lambda storage: storage.get(key))

    def _count(self, count: Callable[[Storage], int]) -> int:
        if time.monotonic() >= self._redis_due:
            try:
                return count(self._redis)
            except RedisError:
                self._redis_due = time.monotonic() + self.retry_seconds
                logger.warning("Redis is away: each process counts for itself.")
        with self._memory_lock:
            return count(self._memory)

    @cached_property
    def _redis(self) -> RedisStorage:
        pool = ConnectionPool.from_url(
            self.redis_url,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
            socket_timeout=REDIS_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 1),
        )
        return RedisStorage("redis://", connection_pool=pool, key_prefix="kaha")

    @cached_property
    def _memory(self) -> MemoryStorage:
        return MemoryStorage()


@cache
def counters_at(redis_url: str) -> Counters:
    """The counters that this process shares with all others on the same Redis."""
    return Counters(redis_url)


@dataclass(frozen=True, slots=True)
class Window:
    """One of the stretches of `seconds` into which time is cut; `ends_in_seconds` is at least 1."""

    seconds: int
    starts_at: datetime
    ends_in_seconds: int

    @classmethod
    def present(cls, seconds: int) -> Self:
        """The one under way."""
        moment = clock.now().timestamp()
        start = int(moment // seconds) * seconds
        return cls(seconds, datetime.fromtimestamp(start, UTC), ceil(start + seconds - moment))

    @property
    def ends_at(self) -> datetime:
        return self.starts_at + timedelta(seconds=self.seconds)

    def key(self, who: str) -> str:
        """Under what is counted what `who` does in this window."""
        return f"{who}/{self.seconds}/{int(self.starts_at.timestamp()) // self.seconds}"
