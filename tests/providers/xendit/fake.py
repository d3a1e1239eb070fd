"""Xendit on a socket of this machine: what it is asked and what it answers are held to the description of its API."""

import base64
import json
import re
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from tests.providers.openapi import described
from tests.providers.xendit import disputes, movements, payouts, shapes
from tests.providers.xendit.books import CHALLENGED, Books, Refund, Refusal, Request
from tests.support.fake_provider import FakeProvider
from tests.support.http_server import Answered, Asked

SPEC = "xendit-payments-v3-subset.openapi.json"
WEBHOOKS = {"payment": "payment", "payment_request": "paymentRequest", "refund": "refund"}
# The parameters that may be there several times.
REPEATED = ("types",)
Handler = Callable[[dict[str, Any], str], tuple[int, Any]]


class FakeXendit(FakeProvider):
    """One account's Xendit, whose secret key it knows."""

    def __init__(self, secret_key: str) -> None:
        super().__init__(self._answer, shapes.overstated)
        self.books = Books()
        self.payouts = payouts.PayoutBooks()
        self.disputes = disputes.DisputeBooks()
        # Refunds that are listed, and not described.
        self.hidden: set[str] = set()
        self._authorization = "Basic " + base64.b64encode(f"{secret_key}:".encode()).decode()
        self._lock = threading.Lock()
        self._routes: dict[tuple[str, str], Handler] = {
            ("POST", r"/v3/payment_requests"): self._create,
            ("GET", r"/v3/payment_requests/([^/]+)"): self._get_request,
            ("POST", r"/v3/payment_requests/([^/]+)/cancel"): self._end_request,
            ("GET", r"/v3/payments/([^/]+)"): self._get_payment,
            ("POST", r"/v3/payments/([^/]+)/capture"): self._capture,
            ("POST", r"/v3/payments/([^/]+)/cancel"): self._release,
            ("GET", r"/transactions"): self._list,
            ("GET", r"/refunds/([^/]+)"): self._get_refund,
            ("GET", r"/v2/payouts"): lambda body, _: (200, self.payouts.find(body["reference_id"])),
            ("GET", r"/v2/payouts/([^/]+)"): lambda _, path: (200, self.payouts.get(path.split("/")[3])),
            ("GET", r"/v1/disputes/([^/]+)"): lambda query, path: (200, self.disputes.shown(path.split("/")[3], query)),
            ("DELETE", r"/v1/disputes/([^/]+)/evidences/([^/]+)"): self._delete_evidence,
            ("POST", r"/v1/disputes/([^/]+)/challenge"): lambda _, path: (202, self._dispute(path).challenge()),
            ("POST", r"/v1/disputes/([^/]+)/accept"): lambda _, path: (202, self._dispute(path).accept()),
        }

    def webhooks(self) -> list[bytes]:
        """Return the webhooks since the last call."""
        with self._lock:
            announced, self.books.announced = self.books.announced, []
            bodies = [shapes.event(*each) for each in announced]
        for body in bodies:
            described(SPEC).check_webhook(WEBHOOKS[body["event"].partition(".")[0]], body)
        return [json.dumps(body).encode() for body in bodies]

    def payout_webhooks(self) -> list[bytes]:
        """Return the webhooks about payouts since the last call."""
        with self._lock:
            bodies, self.payouts.announced = self.payouts.announced, []
        for body in bodies:
            described(payouts.SPEC).check_webhook("payout", body)
        return [json.dumps(body).encode() for body in bodies]

    def dispute_webhooks(self) -> list[bytes]:
        """Return the webhooks about disputes since the last call."""
        with self._lock:
            bodies = self.disputes.announced()
        for body in bodies:
            described(disputes.SPEC).check_webhook("dispute", body)
        return [json.dumps(body).encode() for body in bodies]

    def _answer(self, asked: Asked) -> Answered:
        path, _, query = asked.path.partition("?")
        body = self._read(asked, path, query)
        try:
            self._admit(asked)
            with self._lock:
                status, answer = self._route(asked, path)(body, path)
        except Refusal as refusal:
            status, answer = refusal.status, {"error_code": refusal.code, "message": "It cannot be done."}
        described(_spec_of(path)).check_answer(asked.method, path, status, answer)
        return Answered(status, answer)

    def _read(self, asked: Asked, path: str, query: str) -> dict[str, Any]:
        if asked.body and asked.headers["Content-Type"].startswith("multipart/form-data;"):
            described(_spec_of(path)).check_form(asked.method, path, disputes.fields_of(asked))
            return {}
        if asked.body:
            body: dict[str, Any] = json.loads(asked.body)
            described(_spec_of(path)).check_request(asked.method, path, body)
            assert asked.headers["Content-Type"] == "application/json"
            return body
        asked_for = parse_qs(query, strict_parsing=bool(query))
        return {name: values if name in REPEATED else values[0] for name, values in asked_for.items()}

    def _admit(self, asked: Asked) -> None:
        assert asked.headers["api-version"] == "2024-11-11"
        if asked.headers["Authorization"] != self._authorization:
            raise Refusal(401, "INVALID_API_KEY")

    def _route(self, asked: Asked, path: str) -> Handler:
        if (asked.method, path) == ("POST", "/refunds"):
            return lambda body, _: self._refund(body, asked.headers["idempotency-key"])
        if (asked.method, path) == ("POST", "/v2/payouts"):
            return lambda body, _: (200, self.payouts.create(body, asked.headers["idempotency-key"]))
        if re.fullmatch(r"/v1/disputes/[^/]+/evidences", path):
            return lambda _, path: (201, self._dispute(path).add(disputes.parts_of(asked)))
        return next(
            handler
            for (method, route), handler in self._routes.items()
            if method == asked.method and re.fullmatch(route, path)
        )

    def _create(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        properties = body["channel_properties"]
        card = properties.get("card_details", {}).get("card_number", "")
        asks_payer = not card or (card == CHALLENGED and not properties["skip_three_ds"])
        names = ("reference_id", "currency", "country", "channel_code", "capture_method")
        reference, currency, country, channel, capture_method = (body[name] for name in names)
        amount = shapes.minor(body["request_amount"])
        request = Request(reference, amount, currency, country, channel, capture_method)
        return 201, shapes.described_request(self.books.create(request, card, asks_payer=asks_payer))

    def _get_request(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        return 200, shapes.described_request(self._request(path.split("/")[3]))

    def _end_request(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        return 200, shapes.described_request(self.books.end(self._request(path.split("/")[3])))

    def _get_payment(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        return 200, shapes.described_payment(self._paid(path))

    def _capture(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        amount = shapes.minor(body["capture_amount"])
        return 200, shapes.described_payment(self.books.capture(self._paid(path), amount))

    def _release(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        return 200, shapes.described_payment(self.books.release(self._paid(path)))

    def _refund(self, body: dict[str, Any], key: str) -> tuple[int, Any]:
        of = self._request(body["payment_request_id"])
        refund = Refund(of, body["reference_id"], shapes.minor(body["amount"]), body["reason"])
        return 200, shapes.described_refund(self.books.refund(refund, key))

    def _list(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        return 200, movements.page(self.books, body)

    def _get_refund(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        for refund in self.books.refunds.values():
            if refund.id == path.split("/")[2] and refund.id not in self.hidden:
                return 200, shapes.described_refund(refund)
        raise Refusal(404, "DATA_NOT_FOUND")

    def _delete_evidence(self, body: dict[str, Any], path: str) -> tuple[int, Any]:
        self._dispute(path).delete(path.split("/")[5])
        return 204, None

    def _dispute(self, path: str) -> disputes.MadeDispute:
        return self.disputes.get(path.split("/")[3])

    def _request(self, ref: str) -> Request:
        if ref not in self.books.requests:
            raise Refusal(404, "DATA_NOT_FOUND")
        return self.books.requests[ref]

    def _paid(self, path: str) -> Request:
        payment_id = path.split("/")[3]
        for request in self.books.requests.values():
            if request.payment_id == payment_id:
                return request
        raise Refusal(404, "DATA_NOT_FOUND")


def _spec_of(path: str) -> str:
    if path.startswith("/v1/disputes"):
        return disputes.SPEC
    return payouts.SPEC if path.startswith("/v2/payouts") else SPEC
