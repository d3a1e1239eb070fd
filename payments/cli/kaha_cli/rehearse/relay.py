"""Stands between kaha and the shop's receiver: what kaha promises of its events is what it plays, and forgeries.

At least once, in any order, late, ten at once, again after an answer that kaha did not read; always signed, but for
what somebody else sends, which a receiver must refuse.
"""

import json
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from ssl import SSLContext

import httpx2

from kaha_cli.client import Client
from kaha_cli.feed import PAGE_LENGTH, Item, items_of
from kaha_cli.receiver import TOTAL_SECONDS, headers_of, new_secret
from kaha_cli.rehearse.browser import at_once

PATH = "/v2/events/"
SESSION = re.compile(r"cs_[0-9a-f]{32}")
# With which a shop has to do. Events of a refund or dispute name its charge.
OF_ORDERS = re.compile(r"(?:checkout_session|charge|refund)\.")
TOO_OLD_SECONDS, DEADLINE_SECONDS, PAUSE_SECONDS = 600, 30.0, 0.3
TWICE, TEN = ", twice", ", ten at once"
FORGED, OLD = ", signed with another secret", ", signed 10 minutes ago"
# What kaha does not send, by the rule that is broken where it is taken.
TO_REFUSE = {FORGED: "forged_event_taken", OLD: "old_event_taken"}


@dataclass(frozen=True)
class Letter:
    """An event on its way, and how it goes."""

    item: Item
    how: str = ""


Manner = Callable[[list[Item]], list[Letter]]


def _forged(item: Item) -> Letter:
    """Return what somebody writes who has no secret: what was begun is paid."""
    text = item.text.replace("session.created", "session.completed").replace('"unpaid"', '"paid"')
    return Letter(Item(json.loads(text), text), FORGED)


def _all(how: str) -> Manner:
    return lambda items: [Letter(item, how) for item in items]


# What a manner leaves out, or has refused, comes the day after.
MANNERS: dict[str, Manner] = {
    "in order": _all(""),
    "twice": _all(TWICE),
    "ten at once": lambda items: _all("")(items[:-1]) + _all(TEN)(items[-1:]),
    "newest first": lambda items: _all("")(items[::-1]),
    "a day late": lambda _items: [],
    "the first one last": lambda items: _all("")(items[1:] + items[:1]),
    "restarted in the middle": lambda items: _all("")(items[: len(items) // 2 + 1] + items),
    "an old one again": lambda items: _all("")(items + items[:1]),
    "forged": lambda items: list(map(_forged, items)),
    "replayed": lambda items: _all("")(items) + _all(OLD)(items),
}


class Relay:
    """The events of this account from now on, by session, and the way to the receiver, signed with `secret`."""

    def __init__(self, client: Client, url: str, secret: str, tls: SSLContext) -> None:
        self._client, self._url, self._secret = client, url, secret
        headers = {"Content-Type": "application/json", "User-Agent": "kaha", "Connection": "close"}
        self._http = httpx2.Client(verify=tls, trust_env=False, timeout=TOTAL_SECONDS, headers=headers)
        self.stopped, self._lock = threading.Event(), threading.Lock()
        self._events = defaultdict[str, list[Item]](list)
        # By the ID of a session or charge.
        self._session_of: dict[str, str] = {}
        self._known = {item.value["id"] for item in items_of(client.get(PATH, limit=PAGE_LENGTH).text)}

    def events_of(self, sessions: list[str], wanted: tuple[str, ...]) -> list[Item]:
        """Return the events of these sessions, as soon as each of `wanted` ends one's type, or is late."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            with self._lock:
                self._file_new()
                found = [item for session in sessions for item in self._events[session]]
            types = [item.value["type"] for item in found]
            is_there = all(any(kind.endswith(end) for kind in types) for end in wanted)
            if is_there or time.monotonic() > deadline or self.stopped.wait(PAUSE_SECONDS):
                return sorted(found, key=lambda item: str(item.value["id"]))

    def send(self, letter: Letter) -> list[int]:
        """Send an event; return what was answered, 0 for nothing."""
        if letter.how == TEN:
            return sorted(set(at_once(*[lambda: self._answer_to(letter)] * 10)))
        return [self._answer_to(letter) for _ in range(2 if letter.how == TWICE else 1)]

    def _answer_to(self, letter: Letter) -> int:
        body, secret = letter.item.text.encode(), new_secret() if letter.how == FORGED else self._secret
        age_seconds = TOO_OLD_SECONDS if letter.how == OLD else 0
        signature = headers_of(secret, letter.item.value["id"], body, age_seconds)
        try:
            return self._http.post(self._url, content=body, headers=signature).status_code
        except httpx2.HTTPError:
            return 0

    def _file_new(self) -> None:
        """File the events that are new, the newest page at least: one with a lower ID may be written later."""
        items = page = items_of(self._client.get(PATH, limit=PAGE_LENGTH).text)
        while len(page) == PAGE_LENGTH and page[-1].value["id"] not in self._known:
            page = items_of(self._client.get(PATH, limit=PAGE_LENGTH, start_after=page[-1].value["id"]).text)
            items = items + page
        for item in reversed([item for item in items if item.value["id"] not in self._known]):
            self._known.add(item.value["id"])
            shown = item.value["data"]["object"]
            # A charge of a session leads its payer back to the session's page.
            named = SESSION.search(item.text)
            session = named[0] if named else self._session_of.get(str(shown.get("charge")), "")
            self._session_of[shown["id"]] = session
            if OF_ORDERS.match(item.value["type"]):
                self._events[session].append(item)
