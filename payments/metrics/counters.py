"""The counts of a process. To count takes some microseconds, without a statement or a system call."""

import collections
from collections.abc import Iterable
from functools import cache

from prometheus_client import Counter, Gauge, Histogram

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
# Of a request that no view of ours answered.
NO_ROUTE = "none"

REQUESTS = Counter("kaha_requests", "Requests answered, by route, method and status.", ["route", "method", "status"])
REQUEST_SECONDS = Histogram(
    "kaha_request_seconds",
    "Time that requests took, by route.",
    ["route"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30),
)
PROVIDER_CALLS = Counter(
    "kaha_provider_calls",
    "Questions to providers, by provider, operation and outcome.",
    ["provider", "operation", "outcome"],
)
PROVIDER_SECONDS = Histogram(
    "kaha_provider_call_seconds",
    "Time that providers took to answer, by provider and operation.",
    ["provider", "operation"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30),
)
CHARGES = Counter("kaha_charges", "Charges by mode and recorded outcome.", ["mode", "outcome"])
WEBHOOK_ATTEMPTS = Counter("kaha_webhook_attempts", "Attempts to deliver webhooks, by result.", ["result"])

CONNECTIONS = Gauge("kaha_connections", "Connections to PostgreSQL allowed.", multiprocess_mode="livesum")
CONNECTIONS_IN_USE = Gauge(
    "kaha_connections_in_use", "Connections to PostgreSQL that threads use.", multiprocess_mode="livesum"
)
CONNECTIONS_WAITING = Gauge(
    "kaha_connections_waiting", "Threads that wait for a connection.", multiprocess_mode="livesum"
)
THREADS = Gauge("kaha_threads", "Threads for requests or sweeps.", multiprocess_mode="livesum")
THREADS_IN_USE = Gauge("kaha_threads_in_use", "Threads that are taken.", multiprocess_mode="livesum")
REQUESTS_WAITING = Gauge("kaha_requests_waiting", "Requests that wait for a thread.", multiprocess_mode="livesum")
RECEIVERS_SLOW = Gauge(
    "kaha_webhook_receivers_slow",
    "Receivers whose last attempt took more than half its time limit or none of it was answered.",
    multiprocess_mode="livesum",
)


def count_request(route: str | None, method: str | None, status: int, seconds: float) -> None:
    """Count a request; `route` is that of the URL pattern, None where there is none."""
    route = NO_ROUTE if route is None else route
    _requests(route, method if method in METHODS else OTHER, status).inc()
    _seconds(route).observe(seconds)


# The library looks at each label anew at each call. There are as many as it keeps itself.
_requests, _seconds, _charges = cache(REQUESTS.labels), cache(REQUEST_SECONDS.labels), cache(CHARGES.labels)
_provider_calls, _provider_seconds = cache(PROVIDER_CALLS.labels), cache(PROVIDER_SECONDS.labels)


def count_provider_call(provider: str, operation: str, outcome: object, seconds: float) -> None:
    """Count a question to a provider by the class of its `outcome`."""
    _provider_calls(provider, operation, type(outcome).__name__).inc()
    _provider_seconds(provider, operation).observe(seconds)


def count_charge(livemode: bool, outcome: object) -> None:
    """Count an outcome that was recorded for a charge, by its class."""
    _charges("live" if livemode else "test", type(outcome).__name__).inc()


def count_webhook_attempts(results: Iterable[str]) -> None:
    """Count attempts, each by the class of its status, such as `2xx`, or by what failed where nothing was answered."""
    for result, count in collections.Counter(results).items():
        WEBHOOK_ATTEMPTS.labels(result).inc(count)
