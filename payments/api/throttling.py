"""Rate limits, told in the RateLimit headers of the IETF draft."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

import limits
from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from payments.counting import Counters, Window, counters_at
from payments.models import ApiKey

# What one customer of a network provider has at least, so that all of it is one address here.
IPV6_PREFIX_LENGTH = 64
# A provider sends about two messages of a charge, perhaps all from one address: this is for 200 charges a second.
# What is refused comes again, so that a burst beyond it loses nothing.
WEBHOOK_RATE = "400/second"


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
    limit = _parsed(rate)
    window = Window.present(limit.get_expiry())
    used = counters.increment(window.key(who), window.seconds)
    return Verdict(limit.amount, window.seconds, used, window.ends_in_seconds)


@cache
def _parsed(rate: str) -> limits.RateLimitItem:
    return limits.parse(rate)


class Throttle(BaseThrottle, ABC):
    """Refuses a request that is over its limit, and has any answer tell how far it is from it."""

    verdict: Verdict

    @abstractmethod
    def count(self, request: Request) -> Verdict:
        """Counts `request` against its limit."""

    def allow_request(self, request: Request, view: Any) -> bool:
        self.verdict = self.count(request)
        view.headers.update(self.verdict.headers)
        return self.verdict.allowed

    def wait(self) -> float:
        return self.verdict.reset_seconds


class KeyThrottle(Throttle):
    """At most RATE_LIMIT requests for each key; for a publishable one RATE_LIMIT_ANONYMOUS for each address.

    Everybody has a publishable key: what all its payers shared, one of them could use up for the others.
    """

    def count(self, request: Request) -> Verdict:
        key: Any = request.auth
        rate, who = settings.RATE_LIMIT, f"key/{key.id.hex}"
        if key.kind == ApiKey.Kind.PUBLISHABLE:
            rate, who = settings.RATE_LIMIT_ANONYMOUS, f"{who}/{counted_address(request._request)}"
        return take(counters_at(settings.REDIS_URL), rate, who)


class AddressThrottle(Throttle):
    """At most RATE_LIMIT_ANONYMOUS requests for each address, where no key is asked for."""

    def count(self, request: Request) -> Verdict:
        return count_stranger(request)


def count_stranger(request: HttpRequest) -> Verdict:
    """Counts a request without a valid key against its address and RATE_LIMIT_ANONYMOUS."""
    counters = counters_at(settings.REDIS_URL)
    return take(counters, settings.RATE_LIMIT_ANONYMOUS, f"address/{counted_address(request)}")


def count_webhook(request: HttpRequest) -> Verdict:
    """Counts a message that says to be a provider's against its address and WEBHOOK_RATE."""
    return take(counters_at(settings.REDIS_URL), WEBHOOK_RATE, f"webhook/{counted_address(request)}")


def counted_address(request: HttpRequest) -> str:
    """The client's address as limits know it: of IPv6 its network, in which everybody has addresses without end."""
    said = client_address(request)
    try:
        address = ip_address(said)
    except ValueError:
        return said
    if not isinstance(address, IPv6Address):
        return said
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(network_of(address))


def network_of(address: IPv6Address) -> IPv6Network:
    """The network of `address` that one customer has."""
    return IPv6Network((int(address), IPV6_PREFIX_LENGTH), strict=False)


def client_address(request: HttpRequest) -> str:
    """Where the request comes from, past the TRUSTED_PROXIES proxies of ours that append to X-Forwarded-For."""
    said = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.TRUSTED_PROXIES else ""
    hops = [part.strip() for part in said.split(",") if part.strip()]
    if not hops:
        return str(request.META.get("REMOTE_ADDR", ""))
    return hops[-min(settings.TRUSTED_PROXIES, len(hops))]
