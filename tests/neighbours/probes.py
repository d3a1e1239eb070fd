"""What another merchant sees meanwhile: its list, charge, source and first webhook, `/ping` and `/ready`."""

import http.client
import json
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from payments.embedded.processes import wait_until
from tests.client import APPROVED, CARD_FIELDS
from tests.support.receiver import Receiver

if TYPE_CHECKING:
    from payments.domain.merchants.merchants import NewMerchant

PAUSE_SECONDS = 0.05
TIMEOUT_SECONDS = 30
WEBHOOK_TIMEOUT_SECONDS = 30
FIRST_EVENT = "charge.created"


@dataclass
class Samples:
    """Waits in seconds by probe, and what was answered that should not have been."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)

    def add(self, probe: str, wait: float) -> None:
        self.waits.setdefault(probe, []).append(wait)

    def fail(self, probe: str, reason: str) -> None:
        self.errors.setdefault(probe, []).append(reason)

    @property
    def error_count(self) -> int:
        return sum(len(reasons) for reasons in self.errors.values())


def percentile(waits: list[float], share: float) -> float:
    """Return the wait that `share` of all waits do not exceed."""
    return sorted(waits)[min(len(waits) - 1, int(len(waits) * share))]


class Neighbour:
    """A merchant with a program, a payer's browser and a receiver of webhooks, at the server at `url`."""

    tolerated: frozenset[int] = frozenset()

    def __init__(
        self, url: str, shop: "NewMerchant", receiver: Receiver, timeout_seconds: float, pause_seconds: float
    ) -> None:
        self._host = urlsplit(url).netloc
        self._secret, self._public = shop.keys["sk_test"], shop.keys["pk_test"]
        self._receiver = receiver
        self._timeout_seconds, self._pause_seconds = timeout_seconds, pause_seconds

    @contextmanager
    def watching(self, without: frozenset[str] = frozenset()) -> Iterator[Samples]:
        """Ask at least once, and again and again until the block ends; `without` names probes that are left out."""
        samples, ended, charged = Samples(), threading.Event(), dict[str, float]()
        loops = {
            "ping": self._ping,
            "ready": self._ready,
            "list": self._list,
            "charge": lambda seen: self._charge(seen, charged),
        }
        threads = [
            threading.Thread(target=self._repeat, args=(name, probe, samples, ended))
            for name, probe in loops.items()
            if name not in without
        ]
        for thread in threads:
            thread.start()
        try:
            yield samples
        finally:
            ended.set()
            for thread in threads:
                thread.join()
            if "webhook" not in without:
                self._collect_webhooks(samples, charged)

    def _repeat(self, name: str, probe: Callable[[Samples], None], samples: Samples, ended: threading.Event) -> None:
        while True:
            try:
                probe(samples)
            except (OSError, http.client.HTTPException) as error:
                samples.fail(name, repr(error))
            if ended.wait(self._pause_seconds):
                return

    def _ping(self, samples: Samples) -> None:
        self._timed(samples, "ping", 200, "GET", "/ping")

    def _ready(self, samples: Samples) -> None:
        self._timed(samples, "ready", 200, "GET", "/ready")

    def _list(self, samples: Samples) -> None:
        self._timed(samples, "list", 200, "GET", "/v2/charges/?limit=5", key=self._secret)

    def _charge(self, samples: Samples, charged: dict[str, float]) -> None:
        card = {"type": "card", "card": {**CARD_FIELDS, "number": APPROVED}}
        card["redirect"] = {"success": "https://s.example", "fail": "https://f.example", "notify": self._receiver.url}
        source = self._timed(samples, "source", 200, "POST", "/v2/sources/", card, self._public)
        if source is None:
            return
        order = {"amount": 1000, "source": source["id"], "description": "Rice", "capture": True}
        if charge := self._timed(samples, "charge", 201, "POST", "/v2/charges/", order, self._secret):
            charged[charge["id"]] = time.monotonic()

    def _timed(
        self, samples: Samples, probe: str, wanted: int, method: str, path: str,
        body: Mapping[str, Any] | None = None, key: str = "",
    ) -> dict[str, Any] | None:  # fmt: skip
        headers = {"Authorization": "Basic " + b64encode(f"{key}:".encode()).decode()} if key else {}
        headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection(self._host, timeout=self._timeout_seconds)
        started = time.monotonic()
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            answer = response.read()
        finally:
            connection.close()
        samples.add(probe, time.monotonic() - started)
        if response.status not in {wanted, *self.tolerated}:
            samples.fail(probe, f"{response.status} {answer[:200]!r}")
            return None
        return dict(json.loads(answer)) if body and response.status == wanted else None

    def _collect_webhooks(self, samples: Samples, charged: Mapping[str, float]) -> None:
        wait_until(lambda: not charged.keys() - self._first_tries().keys(), WEBHOOK_TIMEOUT_SECONDS)
        tries = self._first_tries()
        for charge_id, answered_at in charged.items():
            if charge_id in tries:
                samples.add("webhook", max(0.0, tries[charge_id] - answered_at))
            else:
                samples.fail("webhook", f"{charge_id} has had no first try")

    def _first_tries(self) -> dict[str, float]:
        calls = [(call.event, call.at) for call in reversed(self._receiver.calls)]
        return {event["data"]["object"]["id"]: at for event, at in calls if event["type"] == FIRST_EVENT}
