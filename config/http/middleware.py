"""Middleware: the request's ID and log line, and the use of its key."""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from config.http.error_pages import trace_refused
from payments import context, ids
from payments.api.access.throttling import client_address
from payments.domain.merchants.api_keys import record_use
from payments.metrics.counters import count_request
from payments.models import ApiKey
from payments.web import request_log
from payments.web.middleware import GetResponse

logger = logging.getLogger("kaha.request")


class KeyUse:
    """Records when a key was last used, outside of the measured time; a failure to record it fails no request.

    It resets the context's merchant after the request.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = context.merchant.set(None)
        try:
            response = self.get_response(request)
            key = getattr(request, "auth", None)
            if key:
                _note_use(key)
            return response
        finally:
            context.merchant.reset(token)


def _note_use(key: ApiKey) -> None:
    try:
        record_use(key)
    except Error as error:
        logger.warning("The last use of an API key was not recorded.", exc_info=error)


class RequestLog:
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
        with statements.counted():
            response = self.get_response(request)
        response["Request-Id"] = request_id
        if isinstance(response, HttpResponse):
            response["Content-Length"] = str(len(response.content))
        seconds = time.perf_counter() - started
        try:
            facts = _facts_of(request) | {
                "status": response.status_code,
                "milliseconds": round(seconds * 1000, 2),
                "sql_count": statements.count,
            }
            logger.info("request", extra=facts)
            request_log.add(request, request_id, facts["status"], round(facts["milliseconds"]))
            count_request(facts.get("route"), request.method, response.status_code, seconds)
        except Exception:  # a charge must not fail because of its log line
            with suppress(Exception):  # another handler than ours may fail again
                logger.exception("The log line of a request could not be made.")
        return response


class RefuseTrace:
    """Refuses TRACE on pages: their views would take it for GET. The API's views refuse it by themselves."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return trace_refused(request) if request.method == "TRACE" else self.get_response(request)


class Statements:
    """Counts the SQL statements that this thread sends."""

    def __init__(self) -> None:
        self.count = 0

    def counted(self) -> AbstractContextManager[None]:
        return connection.execute_wrapper(self._count)

    def _count(self, execute: Callable[..., Any], *statement: Any) -> Any:
        self.count += 1
        return execute(*statement)


def _facts_of(request: HttpRequest) -> dict[str, Any]:
    match, key = request.resolver_match, getattr(request, "named_key", None)
    facts = {
        "method": request.method,
        "route": match.route if match else None,
        "key": ids.public_id("key", key.id) if key else None,
        "merchant": ids.public_id("mer", key.merchant_id) if key else None,
        "livemode": key.livemode if key else None,
        "remote_address": client_address(request),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}
