"""Rate limits, reported in the RateLimit headers of the IETF draft."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from payments.domain.risk.addresses import counted
from payments.models import ApiKey
from payments.redis_client.rate_counters import Counters, Window, counters_at, parse_rate

# The smallest network that a provider assigns to one customer; all of it counts as one address.
# Enough for 200 charges a second: a provider sends about two messages for each, perhaps all from one address.
# A provider sends a refused message again, so a burst above the limit loses nothing.
WEBHOOK_RATE = "400/second"


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of a rate limit: `used` of `quota` in a window of `window_seconds`, which ends in `reset_seconds`."""

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


def take(counters: Counters, rate: str, caller: str) -> Usage:
    """Count one request of `caller` against `rate` (`300/second`) and return the use of that limit."""
    quota, window_seconds = parse_rate(rate)
    window = Window.present(window_seconds)
    used = counters.increment(window.key(caller), window.seconds)
    return Usage(quota, window.seconds, used, window.ends_in_seconds)


class Throttle(BaseThrottle, ABC):
    """A throttle that puts the RateLimit headers on every answer."""

    usage: Usage

    @abstractmethod
    def count(self, request: Request) -> Usage:
        """Count `request` against its limit and return the use of that limit."""

    def allow_request(self, request: Request, view: Any) -> bool:
        self.usage = self.count(request)
        view.headers.update(self.usage.headers)
        return self.usage.allowed

    def wait(self) -> float:
        return self.usage.reset_seconds


class KeyThrottle(Throttle):
    """RATE_LIMIT for each key; RATE_LIMIT_ANONYMOUS for each address that uses a publishable key.

    A publishable key is public: one payer must not use up the limit of all others.
    """

    def count(self, request: Request) -> Usage:
        key: Any = request.auth
        rate, caller = settings.RATE_LIMIT, f"key/{key.id.hex}"
        if key.kind == ApiKey.Kind.PUBLISHABLE:
            rate, caller = settings.RATE_LIMIT_ANONYMOUS, f"{caller}/{counted_address(request)}"
        return take(counters_at(settings.REDIS_URL), rate, caller)


class AddressThrottle(Throttle):
    """RATE_LIMIT_ANONYMOUS for each address, on paths that need no key."""

    def count(self, request: Request) -> Usage:
        return count_anonymous(request)


def count_anonymous(request: HttpRequest) -> Usage:
    """Count a request without a valid key against RATE_LIMIT_ANONYMOUS of its address."""
    counters = counters_at(settings.REDIS_URL)
    return take(counters, settings.RATE_LIMIT_ANONYMOUS, f"address/{counted_address(request)}")


def count_webhook(request: HttpRequest) -> Usage:
    """Count a provider's webhook against WEBHOOK_RATE of its address."""
    return take(counters_at(settings.REDIS_URL), WEBHOOK_RATE, f"webhook/{counted_address(request)}")


def counted_address(request: HttpRequest) -> str:
    """Return the client's address as rate limits count it."""
    return counted(client_address(request))


def client_address(request: HttpRequest) -> str:
    """Return the client's address, past the TRUSTED_PROXIES proxies of ours that append to X-Forwarded-For."""
    if proxies := settings.TRUSTED_PROXIES:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        if hops := [part.strip() for part in forwarded.split(",") if part.strip()]:
            return hops[-min(proxies, len(hops))]
    return str(request.META.get("REMOTE_ADDR", ""))
