"""Rate limits: fixed windows, counted in Redis by all processes, told in the RateLimit headers of the IETF draft.

The library's storages count; its strategies would ask Redis three times for what one increment tells.
"""

import logging
import time
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil
from typing import Any

import limits
from django.conf import settings
from django.http import HttpRequest
from limits.storage import MemoryStorage, RedisStorage
from redis import ConnectionPool, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from payments import clock

logger = logging.getLogger("kaha.throttling")

REDIS_RETRY_SECONDS = 5.0
REDIS_TIMEOUT_SECONDS = 0.5


class Counters:
    """Counts in Redis; while Redis is away, in this process alone, so that nothing is ever unlimited."""

    def __init__(self, redis_url: str, retry_seconds: float = REDIS_RETRY_SECONDS) -> None:
        self.redis_url = redis_url
        self.retry_seconds = retry_seconds
        self._redis_due = 0.0

    def increment(self, key: str, window_seconds: int) -> int:
        """Adds one to `key`, which is forgotten `window_seconds` after its first one; returns the sum."""
        if time.monotonic() >= self._redis_due:
            try:
                return self._redis.incr(key, window_seconds)
            except RedisError:
                self._redis_due = time.monotonic() + self.retry_seconds
                logger.warning("Redis is away: each process counts requests for itself.")
        return self._memory.incr(key, window_seconds)

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """`quota` per `window_seconds`, and what is `used` of it in the window that ends in `reset_seconds`."""

    quota: int
    window_seconds: int
    used: int
    reset_seconds: int

    @property
    def allowed(self) -> bool:
        return self.used <= self.quota

    @property
    def headers(self) -> dict[str, str]:
        left = max(0, self.quota - self.used)
        return {
            "RateLimit": f'"default";r={left};t={self.reset_seconds}',
            "RateLimit-Policy": f'"default";q={self.quota};w={self.window_seconds}',
        }


def take(counters: Counters, rate: str, who: str) -> Verdict:
    """Counts one request of `who` against `rate` (`300/second`), and tells what is left."""
    limit = limits.parse(rate)
    window_seconds = limit.get_expiry()
    moment = clock.now().timestamp()
    window = int(moment // window_seconds)
    used = counters.increment(f"{who}/{window_seconds}/{window}", window_seconds)
    return Verdict(limit.amount, window_seconds, used, ceil((window + 1) * window_seconds - moment))


@cache
def counters_at(redis_url: str) -> Counters:
    """The counters that this process shares with all others on the same Redis."""
    return Counters(redis_url)


class KeyThrottle(BaseThrottle):
    """At most RATE_LIMIT requests for each key."""

    verdict: Verdict

    def allow_request(self, request: Request, view: Any) -> bool:
        key: Any = request.auth
        self.verdict = take(counters_at(settings.REDIS_URL), settings.RATE_LIMIT, f"key/{key.id.hex}")
        view.headers.update(self.verdict.headers)
        return self.verdict.allowed

    def wait(self) -> float:
        return self.verdict.reset_seconds


def count_failure(request: HttpRequest) -> Verdict:
    """Counts a request without a valid key against its address and RATE_LIMIT_ANONYMOUS."""
    return take(counters_at(settings.REDIS_URL), settings.RATE_LIMIT_ANONYMOUS, f"address/{client_address(request)}")


def client_address(request: HttpRequest) -> str:
    """Where the request comes from, past the TRUSTED_PROXIES proxies of ours that append to X-Forwarded-For."""
    said = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.TRUSTED_PROXIES else ""
    hops = [part.strip() for part in said.split(",") if part.strip()]
    if not hops:
        return str(request.META.get("REMOTE_ADDR", ""))
    return hops[-min(settings.TRUSTED_PROXIES, len(hops))]
