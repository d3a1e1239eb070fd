"""Refusals of payers' pages beyond the limit of an address, repeated without a thread until the window ends."""

import time
from functools import cache, partial
from io import BytesIO
from typing import Any

from cachetools import LRUCache
from csp.middleware import CSPMiddleware
from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict
from django.middleware.security import SecurityMiddleware

from payments import ids
from payments.api.access.throttling import client_address
from payments.metrics.counters import count_request
from payments.pages.limit import REFUSED, ask_again, window_of
from payments.pages.responses import for_payers, language_of, page
from payments.pages.urls import urlpatterns
from payments.web.environ import Environ, request_of
from payments.web.responses import Answer, encoded

MOST_ADDRESSES = 10_000
# Django refuses a query of more than 1,000 fields.
QUERY_LENGTH = 1_000
LIMITED = [pattern for pattern in urlpatterns if getattr(pattern.callback, "is_limited", False)]


class LimitedPages:
    """The addresses that `@limited` has refused in this process, and the page that it answers them with.

    The event loop alone uses it. The first refusal of a window has a line in the log, and those repeated here have
    none, which would double their cost; all are counted. An address that it has no room for is counted in Redis again.
    """

    def __init__(self) -> None:
        self._refused: LRUCache[str, bool] = LRUCache(MOST_ADDRESSES)

    def learn(self, environ: Environ) -> None:
        """Remember the address of a request that was answered, if it was refused."""
        if key := environ.get(REFUSED):
            self._refused[key] = True

    def answer_to(self, environ: Environ) -> Answer | None:
        """Return the answer to a request for such a page by an address that is refused, None to any other."""
        began, route = time.perf_counter(), limited_route(environ["PATH_INFO"]) if self._refused else None
        if route is None:
            return None
        request = request_of(environ)
        window, key = window_of(client_address(request))
        if key not in self._refused:
            return None
        request.GET = QueryDict(environ["QUERY_STRING"][:QUERY_LENGTH])
        made = _busy_page(language_of(request))
        own = {"Request-Id": ids.public_id("req", ids.new_id()), **ask_again(window, request)}
        count_request(route, request.method, made.status, time.perf_counter() - began)
        return Answer(made.status, [*made.headers, *encoded(own.items())], made.body)


def limited_route(path: str) -> str | None:
    """Return the route of a page that has the limit, None for any other path."""
    return next((match.route for pattern in LIMITED if (match := pattern.resolve(path.removeprefix("/")))), None)


@cache
def _busy_page(language: str) -> Answer:
    """Return the page with the headers that Django's middleware gives it, and nothing of any request."""
    fixed = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "wsgi.input": BytesIO(), "wsgi.url_scheme": "https"}
    view: Any = partial(page, name="busy", status=429)
    show: Any = SecurityMiddleware(CSPMiddleware(for_payers(view)))
    response = show(WSGIRequest({**fixed, "HTTP_ACCEPT_LANGUAGE": language}))
    response["Content-Length"] = str(len(response.content))
    return Answer(response.status_code, encoded(response.items()), response.content)
