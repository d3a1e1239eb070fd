"""Counters in fixed time windows, shared by all processes through Redis."""

import logging
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from math import ceil
from threading import Lock
from typing import Self

from redis import RedisError

from payments import clock
from payments.concurrency.circuit_breaker import CircuitBreaker
from payments.concurrency.connections import release_connection
from payments.redis_client.pipeline import RedisPipeline

logger = logging.getLogger("kaha.counting")

REDIS_RETRY_SECONDS = 15.0

# A key and its expiry in seconds after the last increment; READ to read it without an increment.
Count = tuple[str, int]
READ = 0
RATE = re.compile(r"\s*([0-9]+)\s*(?:/|per)\s*([0-9]*)\s*(second|minute|hour|day|month|year)s?\s*", re.IGNORECASE)
DAY_SECONDS = 86_400
UNITS_SECONDS = {
    **{"second": 1, "minute": 60, "hour": 3_600},
    **{"day": DAY_SECONDS, "month": 30 * DAY_SECONDS, "year": 360 * DAY_SECONDS},
}
MEMORY_CLEANED_AT = 10_000


@cache
def parse_rate(text: str) -> tuple[int, int]:
    """Return the count and the seconds of a rate such as `300/second` or `10 per 5 minutes`; raise ValueError."""
    match = RATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no rate such as 300/second.")
    return int(match[1]), (int(match[2] or 0) or 1) * UNITS_SECONDS[match[3].lower()]


class MemoryCounters:
    """Counters of this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        # By key: the count, and when it expires.
        self._counts: dict[str, tuple[int, float]] = {}
        self._cleaned_at = MEMORY_CLEANED_AT

    def count(self, counts: Sequence[Count]) -> list[int]:
        """Increment or read several keys; return their counts in order."""
        with self._lock:
            now = time.monotonic()
            if len(self._counts) > self._cleaned_at:
                self._counts = {key: kept for key, kept in self._counts.items() if kept[1] > now}
                self._cleaned_at = max(MEMORY_CLEANED_AT, 2 * len(self._counts))
            return [self._one(key, seconds, now) for key, seconds in counts]

    def _one(self, key: str, seconds: int, now: float) -> int:
        count, ends_at = self._counts.get(key, (0, now))
        count = count if ends_at > now else 0
        if seconds:
            count += 1
            self._counts[key] = count, now + seconds
        return count


class Counters:
    """Counters in Redis; while Redis is unavailable, in this process's memory, so that limits always apply."""

    def __init__(self, redis_url: str, retry_seconds: float = REDIS_RETRY_SECONDS) -> None:
        self.redis_url = redis_url
        self.breaker = CircuitBreaker("Redis", retry_seconds)
        self._memory = MemoryCounters()

    def increment(self, key: str, window_seconds: int) -> int:
        """Increment `key`, which expires after `window_seconds`; return the new count."""
        return self.count((key, window_seconds))[0]

    def read(self, key: str) -> int:
        """Return the count of `key`."""
        return self.count((key, READ))[0]

    def count(self, *counts: Count) -> list[int]:
        """Increment or read several keys in one round trip; return their counts in order."""
        if not self.breaker.is_open:
            try:
                sums = [("INCR" if seconds else "GET", f"kaha:{key}") for key, seconds in counts]
                ends = [("EXPIRE", f"kaha:{key}", seconds) for key, seconds in counts if seconds]
                release_connection()
                answers = self._line.ask([*sums, *ends])
                return [int(answer or 0) for answer in answers[: len(counts)]]
            except RedisError:
                if self.breaker.open(self._ping):
                    logger.warning("Redis is unavailable: each process counts for itself.")
        return self._memory.count(counts)

    def _ping(self) -> None:
        self._line.ask([("PING",)])

    @cached_property
    def _line(self) -> RedisPipeline:
        return RedisPipeline(self.redis_url)


@cache
def counters_at(redis_url: str) -> Counters:
    """Return the counters in the Redis at `redis_url`."""
    return Counters(redis_url)


# After a fork two processes would read each other's replies on one connection.
os.register_at_fork(after_in_child=counters_at.cache_clear)


@dataclass(frozen=True, slots=True)
class Window:
    """A fixed window of `seconds`; `ends_in_seconds` is at least 1."""

    seconds: int
    starts_at: datetime
    ends_in_seconds: int

    @classmethod
    def present(cls, seconds: int) -> Self:
        """Return the current window."""
        moment = clock.now().timestamp()
        start = int(moment // seconds) * seconds
        return cls(seconds, datetime.fromtimestamp(start, UTC), ceil(start + seconds - moment))

    @property
    def ends_at(self) -> datetime:
        return self.starts_at + timedelta(seconds=self.seconds)

    def key(self, who: str) -> str:
        """Return the counter's key for `who` in this window."""
        return f"{who}/{self.seconds}/{int(self.starts_at.timestamp()) // self.seconds}"
