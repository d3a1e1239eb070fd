"""Lists that a client follows: the objects newer than a cursor, by long polling."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event as Signal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from payments import context
from payments.api.responses.errors import rate_limited
from payments.api.responses.rendering import json_response
from payments.api.views.lists import Listing, cursor_of, show_page
from payments.connections import release_connection
from payments.db.commit_horizon import commit_horizon
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import FIRST_ID, LAST_ID
from payments.domain.bulkheads import Places
from payments.domain.caller import Caller
from payments.ids import first_id

POLL_SECONDS = 0.5
RETRY_SECONDS = 5
# Each waiting request holds a thread of its process: of one merchant so many, and of all a tenth.
WAITING_PER_MERCHANT = 5
_waiting = Places(WAITING_PER_MERCHANT, settings.WEB_THREADS // 10)
_ending = Signal()


@dataclass(frozen=True, kw_only=True)
class Feed(Listing):
    """A list with the query of the objects between two IDs, oldest first."""

    newer: CompiledQuery[..., Any]


def end_waits() -> None:
    """Answer the requests that wait at once, because the process ends."""
    _ending.set()


def show_feed(
    request: Request, caller: Caller, feed: Feed, query: dict[str, Any], render: Callable[[Any], Any]
) -> HttpResponse:
    """Answer a page of a list, or with `ending_before` the objects that come next, newest first.

    With `wait` an empty page is answered only after so many seconds. Raises PaymentError 422, and ApiError 429 where
    too many requests of this merchant wait.
    """
    cursor = cursor_of(caller, feed, query, "ending_before")
    give_up_at = time.monotonic() + query.get("wait", 0)
    if cursor is None:
        page = show_page(request, caller, feed, query, render)
        if "wait" not in query or "start_after" in query or page.content != EMPTY_PAGE:
            return page
    found = _newer(caller, feed, query, cursor or FIRST_ID)
    if not found and "wait" in query:
        found = _wait(caller, lambda: _newer(caller, feed, query, cursor or FIRST_ID), give_up_at)
    return json_response({"object": "list", "data": [render(row) for row in reversed(found)]})


def _newer(caller: Caller, feed: Feed, query: Mapping[str, Any], above: UUID) -> list[Any]:
    """Return the rows after `above`, oldest first, but for those that a transaction under way may still overtake."""
    values: dict[str, Any] = {"merchant_id": caller.merchant_id, "livemode": caller.livemode, "above": above}
    values |= {"kind": query["type"]} if "type" in query else {}
    if not feed.newer(**values, length=1, below=LAST_ID):
        return []
    return feed.newer(**values, length=query["limit"], below=first_id(commit_horizon()))


def _wait(caller: Caller, find: Callable[[], list[Any]], give_up_at: float) -> list[Any]:
    if not _waiting.take(caller.merchant_id):
        raise rate_limited(RETRY_SECONDS)
    try:
        context.begin_wait()
        while (left := give_up_at - time.monotonic()) > 0:
            release_connection()
            if _ending.wait(min(POLL_SECONDS, left)):
                break
            if found := find():
                return found
        return []
    finally:
        _waiting.give_back(caller.merchant_id)


EMPTY_PAGE = json_response({"object": "list", "data": []}).content
