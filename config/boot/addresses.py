"""The address of Redis in Celery's form."""

from typing import Any

from payments.redis_client import sentinel


def broker_of(redis_url: str) -> tuple[str, dict[str, Any]]:
    """Return REDIS_URL in Celery's form, and the options of Celery's transport.

    Never raises: `config.boot.checks` refuses a malformed one.
    """
    if redis_url.startswith(sentinel.SCHEMES):
        try:
            return sentinel.SentinelAddress.parse(redis_url).broker()
        except ValueError:
            return redis_url, {}
    return broker_url(redis_url), {}


def broker_url(redis_url: str) -> str:
    """Return `redis_url`, as redis-py reads it, in Celery's form."""
    if redis_url.startswith("unix://"):
        # Of a socket, and of the number of a database behind it.
        return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=")
    if redis_url.startswith("rediss://") and "ssl_cert_reqs=" not in redis_url:
        # By default Celery would encrypt, but verify no certificate.
        return f"{redis_url}{'&' if '?' in redis_url else '?'}ssl_cert_reqs=required"
    return redis_url
