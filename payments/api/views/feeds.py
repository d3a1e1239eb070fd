"""Lists that a client follows: the objects newer than a cursor, by long polling."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.responses.errors import rate_limited
from payments.api.responses.rendering import json_response
from payments.api.views.lists import Listing, cursor_of, show_page
from payments.concurrency.fair_queue import Slots
from payments.db.commit_horizon import commit_horizon
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import FIRST_ID, LAST_ID
from payments.domain.shared.caller import Caller
from payments.ids import first_id
from payments.json_codecs.verbatim_json import to_bytes

RETRY_SECONDS = 5
# A waiting request holds no thread, but its connection and a place at the proxy.
WAITING_PER_MERCHANT = 5
_waiting = Slots(WAITING_PER_MERCHANT, settings.WEB_THREADS // 2)
# Members of a request's environment: its Wait, and whether the log of requests leaves it out.
WAIT, UNLOGGED = "kaha.wait", "kaha.unlogged"


@dataclass(frozen=True, kw_only=True)
class Feed(Listing):
    """A list with the query of the objects between two IDs, oldest first; `is_logged`: the log has requests for it."""

    newer: CompiledQuery[..., Any]
    is_logged: bool = True


@dataclass(frozen=True, slots=True)
class Wait:
    """What the web server does after an empty page: ask `find` again and again until it has a page or the time is over.

    `find` returns the body of the page, None while it would be empty. `end` is called once, at the end.
    """

    find: Callable[[], bytes | None]
    give_up_at: float
    end: Callable[[], object]


def show_feed(
    request: Request, caller: Caller, feed: Feed, query: dict[str, Any], render: Callable[[Any], Any]
) -> HttpResponse:
    """Answer a page of a list, or with `ending_before` the objects that come next, newest first.

    With `wait` the web server answers an empty page only after so many seconds. Raises PaymentError 422, and ApiError
    429 where too many requests wait.
    """
    # They come again and again, and would fill the log.
    request.META[UNLOGGED] = "wait" in query or not feed.is_logged
    cursor = cursor_of(caller, feed, query, "ending_before")
    if cursor is None:
        page = show_page(request, caller, feed, query, render)
        if "wait" not in query or "start_after" in query or page.content != EMPTY_PAGE:
            return page
    find = partial(_newer_page, caller, feed, query, cursor or FIRST_ID, render)
    content = find()
    if content is None and "wait" in query:
        request.META[WAIT] = _begin_wait(caller, find, query["wait"])
    return json_response(content or EMPTY_PAGE)


def _newer_page(
    caller: Caller, feed: Feed, query: Mapping[str, Any], above: UUID, render: Callable[[Any], Any]
) -> bytes | None:
    """Return the page of the rows after `above`, newest first; None without any."""
    found = _newer(caller, feed, query, above)
    return to_bytes({"object": "list", "data": [render(row) for row in reversed(found)]}) if found else None


def _newer(caller: Caller, feed: Feed, query: Mapping[str, Any], above: UUID) -> list[Any]:
    """Return the rows after `above`, oldest first, but for those that a transaction under way may still overtake."""
    values: dict[str, Any] = {"merchant_id": caller.merchant_id, "livemode": caller.livemode, "above": above}
    values |= {"kind": query["type"]} if "type" in query else {}
    if not feed.newer(**values, length=1, below=LAST_ID):
        return []
    return feed.newer(**values, length=query["limit"], below=first_id(commit_horizon()))


def _begin_wait(caller: Caller, find: Callable[[], bytes | None], seconds: int) -> Wait:
    if not _waiting.take(caller.merchant_id):
        raise rate_limited(RETRY_SECONDS)
    return Wait(find, time.monotonic() + seconds, partial(_waiting.give_back, caller.merchant_id))


EMPTY_PAGE = json_response({"object": "list", "data": []}).content
