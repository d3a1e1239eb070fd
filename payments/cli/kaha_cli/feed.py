"""Follows a list of the API by long polling: each new object once, the oldest first, none lost while kaha is away."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from kaha_cli.client import CONNECT_SECONDS, Client
from kaha_cli.failures import Failure, Unreachable
from kaha_cli.output import note

WAIT_SECONDS = 20
WAIT = {"wait": WAIT_SECONDS}
# The answer comes at the end of the wait, and may then take a moment.
TIMEOUT = httpx2.Timeout(WAIT_SECONDS + 15, connect=CONNECT_SECONDS)
PAGE_LENGTH = 100
LONGEST_PAUSE_SECONDS = 30.0
BEFORE_THE_FIRST = re.compile(r'\s*\{\s*"object"\s*:\s*"list"\s*,\s*"data"\s*:\s*\[\s*')
BETWEEN = re.compile(r"\s*,?\s*")
DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Item:
    """An object of a list, and its JSON exactly as it came."""

    value: dict[str, Any]
    text: str


def items_of(text: str) -> list[Item]:
    """Return the objects of a list's JSON, in order. Raises ValueError where it is no list of the API."""
    start = BEFORE_THE_FIRST.match(text)
    if start is None:
        raise ValueError("This is not a list.")
    position, found = start.end(), []
    while text[position : position + 1] != "]":
        # Decoded one by one, because only the text between start and end has the bytes that are signed.
        value, end = DECODER.raw_decode(text, position)
        found.append(Item(value, text[position:end]))
        separator = BETWEEN.match(text, end)
        position = separator.end() if separator else end
    return found


class Feed:
    """The objects of the list at `path` that come from now on; `last` older ones come first."""

    def __init__(self, client: Client, path: str, last: int = 0) -> None:
        self._client, self._path = client, path
        newest = items_of(client.get(path, limit=max(last, 1)).text)
        self._cursor = newest[0].value["id"] if newest else None
        self._first = newest[:last]
        self._pause_seconds = 0.0

    def __iter__(self) -> Iterator[Item]:
        """Yield for ever. An object is left behind only when the next one is asked for. Raises Refused."""
        note("Waiting for what comes next. Ctrl-C ends it.")
        yield from reversed(self._first)
        while True:
            for item in self._poll():
                yield item
                self._cursor = item.value["id"]

    def _poll(self) -> list[Item]:
        """Return what comes next, the oldest first; nothing where kaha is away, after a pause."""
        try:
            items = self._page(ending_before=self._cursor, **WAIT) if self._cursor else self._fetch_all()
        except Failure as failure:
            if not failure.is_temporary:
                raise
            self._wait_for_return(failure)
            return []
        except ValueError:
            raise Unreachable(self._client.account.url, "the answer is no list of kaha. Check KAHA_URL.") from None
        if self._pause_seconds:
            note("kaha answers again.")
        self._pause_seconds = 0.0
        return items[::-1]

    def _fetch_all(self) -> list[Item]:
        """Return the whole list of an account that had nothing in it when this began."""
        items = page = self._page(**WAIT)
        while len(page) == PAGE_LENGTH:
            page = self._page(start_after=page[-1].value["id"])
            items = items + page
        return items

    def _page(self, **query: Any) -> list[Item]:
        query["limit"] = PAGE_LENGTH
        return items_of(self._client.send_once("GET", self._path, params=query, timeout=TIMEOUT).text)

    def _wait_for_return(self, failure: Failure) -> None:
        if not self._pause_seconds:
            note(f"{failure.format_message()} Trying again; nothing is lost.")
        self._pause_seconds = min(max(1.0, self._pause_seconds * 2), LONGEST_PAUSE_SECONDS)
        time.sleep(max(self._pause_seconds, failure.retry_after))
