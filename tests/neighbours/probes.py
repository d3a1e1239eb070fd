"""What another merchant sees meanwhile.

Its list, charge, source and first webhook, a piece that a payer takes of its link, its checkout that ends, its request
that charges a kept card, the sign-in page of its people, `/ping` and `/ready`.
"""

import http.client
import json
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from payments import clock
from payments.embedded.processes import wait_until
from payments.ids import parse_id
from payments.models import Checkout, PaymentRequest
from payments.webhooks.wake_up import TaskSender
from tests.checkout.cast import INVOICE, customer, kept_card
from tests.client import APPROVED, CARD_FIELDS, Api
from tests.neighbours.attacks import ORDER
from tests.support.receiver import Receiver

if TYPE_CHECKING:
    from payments.domain.merchants.merchants import NewMerchant

PAUSE_SECONDS = 0.05
TIMEOUT_SECONDS = 30
WEBHOOK_TIMEOUT_SECONDS = END_TIMEOUT_SECONDS = 30
FIRST_EVENT = "charge.created"
SWEEPS = {"end": "expire_checkouts", "try": "collect_requests"}
# Where the merchant's people sign in.
PEOPLE = "127.0.3.1"


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


class Neighbour:
    """A merchant with a program, payers' browsers, a link at the path `link` and a receiver, at the server at `url`."""

    tolerated: frozenset[int] = frozenset()

    def __init__(
        self, url: str, shop: "NewMerchant", link: str, receiver: Receiver, timeout_seconds: float, pause_seconds: float
    ) -> None:
        self._host = urlsplit(url).netloc
        self._secret, self._public = shop.keys["sk_test"], shop.keys["pk_test"]
        self._link, self._payers = link, count()
        self._wake = {probe: TaskSender(settings.CELERY_BROKER_URL, sweep) for probe, sweep in SWEEPS.items()}
        juan = customer(api := Api(self._secret))
        self._invoice = INVOICE | {"customer": juan, "source": kept_card(api, juan), "collect": {"schedule": [1]}}
        self._receiver = receiver
        self._timeout_seconds, self._pause_seconds = timeout_seconds, pause_seconds

    @contextmanager
    def watching(self, without: frozenset[str] = frozenset()) -> Iterator[Samples]:
        """Ask at least once, and again and again until the block ends; `without` names probes that are left out."""
        samples, ended, charged = Samples(), threading.Event(), dict[str, float]()
        loops = {
            "ping": lambda seen: self._timed(seen, "ping", 200, "GET", "/ping"),
            "ready": lambda seen: self._timed(seen, "ready", 200, "GET", "/ready"),
            "list": lambda seen: self._timed(seen, "list", 200, "GET", "/v2/charges/?limit=5", key=self._secret),
            "charge": lambda seen: self._charge(seen, charged),
            "sign_in": lambda seen: self._timed(seen, "sign_in", 200, "GET", "/merchant/login/", source=PEOPLE),
            "buy": self._buy,
            "end": self._end,
            "try": self._try,
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

    def _buy(self, samples: Samples) -> None:
        """Take a piece as a payer at an address of their own."""
        payer = f"127.0.2.{next(self._payers) % 250 + 1}"
        self._timed(samples, "buy", 303, "POST", self._link, form="quantity-0=1", source=payer)

    def _end(self, samples: Samples) -> None:
        """Have the time of a checkout be over, wake the sweep, and wait until it has ended."""
        if session := self._timed(samples, "session", 201, "POST", "/v2/checkout_sessions/", ORDER, self._secret):
            row = Checkout.objects.filter(id=parse_id("cs", session["id"]))
            self._swept(samples, "end", row, "expires_at", {"state": "expired"})

    def _try(self, samples: Samples) -> None:
        """Have a payment request be due to charge its kept card, wake the sweep, and wait until it has."""
        asked = "POST", "/v2/payment_requests/", self._invoice, self._secret
        if request := self._timed(samples, "request", 201, *asked):
            row = PaymentRequest.objects.filter(checkout=parse_id("pr", request["id"]))
            self._swept(samples, "try", row, "collect_at", {"collect_tries": 1})

    def _swept(self, samples: Samples, probe: str, row: QuerySet[Any], due: str, done: Mapping[str, object]) -> None:
        try:
            started = time.monotonic()
            row.update(**{due: clock.now()})
            self._wake[probe]()
            # A run of the sweep that has begun deals with what was due then, for 20 seconds at most.
            if wait_until(row.filter(**done).exists, END_TIMEOUT_SECONDS):
                samples.add(probe, time.monotonic() - started)
            else:
                samples.fail(probe, f"it is not {done}")
        finally:
            connection.close()

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
        body: Mapping[str, Any] | None = None, key: str = "", form: str = "", source: str = "",
    ) -> dict[str, Any] | None:  # fmt: skip
        headers = {"Authorization": "Basic " + b64encode(f"{key}:".encode()).decode()} if key else {}
        headers["Content-Type"] = "application/x-www-form-urlencoded" if form else "application/json"
        asking = http.client.HTTPConnection(
            self._host, timeout=self._timeout_seconds, source_address=(source, 0) if source else None
        )
        started = time.monotonic()
        try:
            asking.request(method, path, json.dumps(body) if body else form or None, headers)
            response = asking.getresponse()
            answer = response.read()
        finally:
            asking.close()
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
