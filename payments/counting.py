"""Counts in fixed windows of time: in Redis, by all processes together.

Redis counts by itself; the library's strategies would ask it three times for what one increment tells.
"""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from math import ceil
from threading import Lock
from typing import Self

from limits.storage import MemoryStorage
from redis import RedisError

from payments import clock
from payments.circuit import CircuitBreaker, CircuitOpen
from payments.connections import release_connection
from payments.redis_line import Line

logger = logging.getLogger("kaha.counting")

REDIS_RETRY_SECONDS = 15.0

# A key, and how many seconds after its last increment it is forgotten; READ where it is not to be incremented.
Count = tuple[str, int]
READ = 0


class Counters:
    """Counts in Redis; while Redis is away, in this process alone, so that nothing is ever unlimited."""

    def __init__(self, redis_url: str, retry_seconds: float = REDIS_RETRY_SECONDS) -> None:
        self.redis_url = redis_url
        self.breaker = CircuitBreaker(retry_seconds, self._ping)
        # The library's own locks lose a count where two threads begin a window at once.
        self._memory_lock = Lock()

    def increment(self, key: str, window_seconds: int) -> int:
        """Adds one to `key`, which is forgotten `window_seconds` after its last one; returns the sum."""
        return self.count((key, window_seconds))[0]

    def read(self, key: str) -> int:
        """The sum of `key`, which stays as it is."""
        return self.count((key, READ))[0]

    def count(self, *counts: Count) -> list[int]:
        """Increments and reads many keys in one round trip; their sums, in the order given."""
        try:
            return self.breaker.call(lambda: self._in_redis(counts))
        except CircuitOpen:
            pass
        except RedisError:
            logger.warning("Redis is away: each process counts for itself.")
        with self._memory_lock:
            return [self._memory.incr(key, seconds) if seconds else self._memory.get(key) for key, seconds in counts]

    def _in_redis(self, counts: Sequence[Count]) -> list[int]:
        sums = [("INCR" if seconds else "GET", f"kaha:{key}") for key, seconds in counts]
        ends = [("EXPIRE", f"kaha:{key}", seconds) for key, seconds in counts if seconds]
        release_connection()
        answers = self._line.ask([*sums, *ends])
        return [int(answer or 0) for answer in answers[: len(counts)]]

    def _ping(self) -> None:
        self._line.ask([("PING",)])

    @cached_property
    def _line(self) -> Line:
        return Line(self.redis_url)

    @cached_property
    def _memory(self) -> MemoryStorage:
        return MemoryStorage()


@cache
def counters_at(redis_url: str) -> Counters:
    """The counters that this process shares with all others on the same Redis."""
    return Counters(redis_url)


# Two processes would read each other's answers on one connection.
os.register_at_fork(after_in_child=counters_at.cache_clear)


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
