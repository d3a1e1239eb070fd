"""Redis as Celery names it."""


def broker_url(redis_url: str) -> str:
    """`redis_url`, as redis-py reads it, in Celery's words."""
    if redis_url.startswith("unix://"):
        # Of a socket, and of the number of a database behind it.
        return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=")
    if redis_url.startswith("rediss://") and "ssl_cert_reqs=" not in redis_url:
        # Left to itself Celery would encrypt, but take anybody's certificate.
        return f"{redis_url}{'&' if '?' in redis_url else '?'}ssl_cert_reqs=required"
    return redis_url
