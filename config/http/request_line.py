"""The line that a request writes to the log, and the request's ID."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from payments import context, ids
from payments.api.access.authentication import NAMED_KEY
from payments.api.access.throttling import client_address
from payments.api.responses.rendering import put_headers
from payments.metrics.counters import count_request
from payments.web import stored_requests
from payments.web.environ import GetResponse

logger = logging.getLogger("kaha.request")


class RequestLine:
    """Gives each request an ID and logs one line with its route, not its path, which may contain e-mail addresses."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = ids.public_id("req", ids.new_id())
        token = context.request_id.set(request_id)
        try:
            return self._logged(request, request_id)
        finally:
            context.request_id.reset(token)

    def _logged(self, request: HttpRequest, request_id: str) -> HttpResponseBase:
        statements = Statements()
        started = time.perf_counter()
        with statements:
            response = self.get_response(request)
        put_headers(response, [("Request-Id", request_id)])
        if isinstance(response, HttpResponse):
            put_headers(response, [("Content-Length", str(len(response.content)))])
        seconds = time.perf_counter() - started
        try:
            facts = _facts_of(request) | {
                "status": response.status_code,
                "milliseconds": round(seconds * 1000, 2),
                "sql_count": statements.count,
            }
            _write(facts)
            stored_requests.add(request, request_id, response, round(facts["milliseconds"]))
            count_request(facts.get("route"), request.method, response.status_code, seconds)
        except Exception:  # a charge must not fail because of its log line
            with suppress(Exception):  # another handler than ours may fail again
                logger.exception("The log line of a request could not be made.")
        return response


class Statements:
    """Counts the SQL statements that this thread sends."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> None:
        self._wrappers = connection.execute_wrappers
        self._wrappers.append(self._count)

    def __exit__(self, *_: object) -> None:
        self._wrappers.pop()

    def _count(self, execute: Callable[..., Any], *statement: Any) -> Any:
        self.count += 1
        return execute(*statement)


def _write(facts: dict[str, Any]) -> None:
    """Log a line at level INFO, as `logger.info` does after it has looked for who calls it."""
    if logger.isEnabledFor(logging.INFO):
        logger.handle(logger.makeRecord(logger.name, logging.INFO, __file__, 0, "request", (), None, extra=facts))


def _facts_of(request: HttpRequest) -> dict[str, Any]:
    match, key = request.resolver_match, request.META.get(NAMED_KEY)
    facts = {
        "method": request.method,
        "route": match.route if match else None,
        "key": ids.public_id("key", key.id) if key else None,
        "merchant": ids.public_id("mer", key.merchant_id) if key else None,
        "livemode": key.livemode if key else None,
        "remote_address": client_address(request),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}
