"""Middleware that records the trace of a sampled request: the request itself, and its statements."""

import time

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import connection
from django.http import HttpRequest, HttpResponseBase

from payments import context, ids
from payments.api.access.authentication import NAMED_KEY
from payments.metrics.counters import METHODS, NO_ROUTE, OTHER
from payments.traces import spans
from payments.traces.spans import Side, Span
from payments.traces.statements import StatementSpans
from payments.web.environ import GetResponse

FAILURE = 500


class TracedRequests:
    """Records spans of the requests that are sampled. Django leaves it out where no traces are exported.

    A `traceparent` of the caller is ignored: otherwise a merchant could choose our trace IDs, and have all of its
    requests sampled.
    """

    def __init__(self, get_response: GetResponse) -> None:
        if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        trace = spans.trace_of(context.request_id.get())
        if trace is None:
            return self.get_response(request)
        statements, started = StatementSpans(trace), time.time_ns()
        with connection.execute_wrapper(statements):
            response = self.get_response(request)
        name, attributes = _facts_of(request, response.status_code, statements.count)
        failed = response.status_code >= FAILURE
        spans.record(Span(trace, name, started, time.time_ns(), Side.SERVER, attributes, failed, is_root=True))
        return response


def _facts_of(request: HttpRequest, status: int, statement_count: int) -> tuple[str, dict[str, str | int | bool]]:
    """Return name and attributes of a request's span: what its log line has, without the address."""
    match, key = request.resolver_match, request.META.get(NAMED_KEY)
    method, route = request.method if request.method in METHODS else OTHER, match.route if match else NO_ROUTE
    facts = {
        "http.request.method": method,
        "http.route": route,
        "http.response.status_code": status,
        "kaha.request": context.request_id.get(),
        "kaha.merchant": ids.public_id("mer", key.merchant_id) if key else None,
        "kaha.livemode": key.livemode if key else None,
        "kaha.statements": statement_count,
    }
    return f"{method} {route}", {name: fact for name, fact in facts.items() if fact is not None}
