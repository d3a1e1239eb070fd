"""The log of requests that merchants' developers read: kept in memory for a second, then written by a thread.

No answer waits for it: what is too much is not kept, and a process that is killed loses its last second.
"""

import logging
import re
from collections import Counter
from collections.abc import Hashable
from datetime import timedelta
from http import HTTPStatus
from threading import Lock, Thread
from time import sleep
from typing import Any

from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from payments import clock, ids
from payments.api.access.authentication import NAMED_KEY
from payments.api.views.feeds import UNLOGGED
from payments.models import ApiKey
from payments.web.kept_bodies import kept, kept_query

logger = logging.getLogger("kaha.stored_requests")

PAUSE_SECONDS = 1.0
# Of one merchant and mode: a burst of so many, and as many in each pause after it. Apart are requests with publishable
# keys, which anybody may use, and those beyond the rate limit, which hide no other.
MOST_AT_ONCE = 1000
MOST_IN_PAUSE = 20
# In one pause, of all, and of those with their bodies, which are read and kept in memory meanwhile, of one caller too.
MOST = 5000
MOST_WITH_BODIES = 100
MOST_OF_ONE_WITH_BODIES = 10
NOT_KEPT = "[too many at once]"
UNREAD = (HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS)
COLUMNS = (
    "id, request_id, merchant_id, livemode, api_key_id, method, path, status, milliseconds, created_at, asked, answered"
)
COPY = f"COPY payments_apirequest ({COLUMNS}) FROM STDIN"
OURS = re.compile(r"[a-z_]*|v2|[a-z]{2,5}_(?:[0-9a-f]{1,8}|[0-9a-f]{32})")
PATH_MAX_LENGTH = 200
METHOD_MAX_LENGTH = 10

Line = tuple[Any, ...]


class Buffer:
    """The lines that are not written yet."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._by_caller: Counter[Hashable] = Counter()
        self._with_bodies: Counter[Hashable] = Counter()
        self._lost = 0
        self._lock = Lock()

    def add(self, caller: Hashable, line: Line) -> None:
        with self._lock:
            if self._is_full(caller):
                self._lost += 1
                return
            self._by_caller[caller] += 1
            self._lines.append(line)

    def takes_bodies(self, caller: Hashable) -> bool:
        """Return whether those of one more request of a caller may be kept."""
        with self._lock:
            taken = self._with_bodies
            if self._is_full(caller) or taken[caller] >= MOST_OF_ONE_WITH_BODIES or taken.total() >= MOST_WITH_BODIES:
                return False
            taken[caller] += 1
            return True

    def _is_full(self, caller: Hashable) -> bool:
        return len(self._lines) >= MOST or self._by_caller[caller] >= MOST_AT_ONCE

    def take(self) -> tuple[list[Line], int]:
        """Return all lines and how many were not kept, and forget both; each caller may add MOST_IN_PAUSE more."""
        with self._lock:
            taken = self._lines, self._lost
            self._lines, self._lost = [], 0
            self._with_bodies.clear()
            self._by_caller -= Counter(dict.fromkeys(self._by_caller, MOST_IN_PAUSE))
        return taken


_buffer: Buffer | None = None


def start() -> None:
    """Keep the requests of this process from now on, until it ends."""
    global _buffer
    _buffer = Buffer()
    Thread(target=_write_for_ever, name="request-log", daemon=True).start()


def add(request: HttpRequest, request_id: str, response: HttpResponseBase, milliseconds: int) -> None:
    """Keep a request with a key of ours, if the log is on; with the bodies, where the merchant chose so."""
    key: ApiKey | None = request.META.get(NAMED_KEY)
    if _buffer is None or key is None or request.META.get(UNLOGGED):
        return
    status = response.status_code
    began_at = clock.now() - timedelta(milliseconds=milliseconds)
    owner = key.merchant_id, key.livemode
    asked = str(request.method)[:METHOD_MAX_LENGTH], plain_path(request.path)
    line = (ids.parse_id("req", request_id), *owner, key.id, *asked, status, milliseconds, began_at)
    is_public = key.kind == ApiKey.Kind.PUBLISHABLE
    caller = (*owner, is_public, status == HTTPStatus.TOO_MANY_REQUESTS)
    # What is refused before it is read, and what anybody may send, has none.
    has_bodies = status not in UNREAD and not is_public and key.merchant.keeps_bodies(key.livemode)
    bodies = ("", "")
    if has_bodies:
        bodies = _bodies(request, response) if _buffer.takes_bodies(caller) else (NOT_KEPT, NOT_KEPT)
    _buffer.add(caller, line + bodies)


def _bodies(request: HttpRequest, response: HttpResponseBase) -> tuple[str, str]:
    """Return what is kept of both bodies. It is made before they are, so that no more is ever in the buffer."""
    # The server has read it whole.
    sent = kept(request.META["wsgi.input"].getvalue())
    asked = "\n".join(filter(None, (kept_query(request.META["QUERY_STRING"]), sent)))
    answer = response.content if isinstance(response, HttpResponse) else b""
    return asked, kept(answer, is_refusal=response.status_code >= HTTPStatus.BAD_REQUEST)


def plain_path(path: str) -> str:
    """Return a path with `*` for each part that is neither a word of the API nor an ID: it may be an e-mail address."""
    return "/".join(part if OURS.fullmatch(part) else "*" for part in path.split("/"))[:PATH_MAX_LENGTH]


def flush() -> None:
    """Write what is kept. What cannot be written is lost, which is logged."""
    lines, lost = _buffer.take() if _buffer else ([], 0)
    try:
        if lines:
            _write(lines)
    except Error as error:
        lost += len(lines)
        logger.warning("The log of requests could not be written.", exc_info=error)
    finally:
        connection.close()
    if lost:
        logger.warning("Some requests are missing in the log of requests.", extra={"lost": lost})


def _write(lines: list[Line]) -> None:
    with connection.cursor() as cursor, cursor.copy(COPY) as rows:
        for line in lines:
            rows.write_row((ids.new_id(), *line))


def _write_for_ever() -> None:
    while True:
        sleep(PAUSE_SECONDS)
        flush()
