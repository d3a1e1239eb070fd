"""Follows a list of the API by long polling: each new object once, the oldest first, none lost while kaha is away.

It knows the types of events too.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import click
import httpx

from kaha_cli.client import CONNECT_SECONDS, Client
from kaha_cli.command import Function
from kaha_cli.failures import Failure, Unreachable
from kaha_cli.output import note

WAIT_SECONDS = 20
WAIT = {"wait": WAIT_SECONDS}
# The answer comes at the end of the wait, and may then take a moment.
TIMEOUT = httpx.Timeout(WAIT_SECONDS + 15, connect=CONNECT_SECONDS)
PAGE_LENGTH = 100
LONGEST_PAUSE_SECONDS = 30.0
BEFORE_THE_FIRST = re.compile(r'\s*\{\s*"object"\s*:\s*"list"\s*,\s*"data"\s*:\s*\[\s*')
BETWEEN = re.compile(r"\s*,?\s*")
DECODER = json.JSONDecoder()
EVENT_TYPES = (
    "charge.created",
    "charge.updated",
    "charge.succeeded",
    "charge.failed",
    "charge.captured",
    "charge.disputed",
    "refund.created",
    "refund.updated",
    "dispute.created",
    "dispute.updated",
    "dispute.closed",
    "payout.created",
    "payout.updated",
    "payout.paid",
    "payout.failed",
    "payout.cancelled",
    "payout_account.created",
    "payout_account.updated",
    "organization.updated",
    "customer.created",
    "customer.updated",
    "customer.deleted",
    "source.created",
    "source.updated",
    "source.deleted",
    "source.expiring",
    "checkout_session.created",
    "checkout_session.completed",
    "checkout_session.expired",
    "payment_request.created",
    "payment_request.updated",
    "payment_request.succeeded",
    "payment_request.failed",
    "payment_link.created",
    "payment_link.updated",
)


def chosen_types(context: click.Context, parameter: click.Parameter, value: str | None) -> frozenset[str]:
    """Return the types that a list like `charge.failed,refund.*` names; all of them for no list."""
    patterns = [pattern.strip() for pattern in (value or "*").split(",")]
    for pattern in patterns:
        if not any(fnmatchcase(kind, pattern) for kind in EVENT_TYPES):
            raise click.BadParameter(f"There is no event type {pattern}. There are: {', '.join(EVENT_TYPES)}.")
    return frozenset(kind for kind in EVENT_TYPES if any(fnmatchcase(kind, pattern) for pattern in patterns))


def types_option(flag: str) -> Callable[[Function], Function]:
    """Return the option `flag` of a command, which gives it `types`."""
    help_text = "Types, separated by commas; charge.* stands for all of charges. Default: all."
    return click.option(flag, "types", metavar="TYPES", callback=chosen_types, help=help_text)


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
