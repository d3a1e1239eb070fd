"""What Xendit knows, as far as a fake of it must: payment requests, the payments they lead to, refunds, movements."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from payments import clock

CHALLENGED = "4000000000002503"
FAILURES = {
    "4000000000000002": "CARD_DECLINED",
    "4000000000009995": "INSUFFICIENT_BALANCE",
    "4000000000009979": "STOLEN_CARD",
    "4000000000000069": "EXPIRED_CARD",
    "4000000000000127": "INVALID_CVV",
    "4000000000000119": "PROCESSOR_ERROR",
    "4000000000000341": "SUSPECTED_FRAUDULENT",
}
OPEN = "REQUIRES_ACTION"


class Refusal(Exception):
    """Something that Xendit answers with an error."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status = status
        self.code = code


@dataclass
class Request:
    """A payment request, with the payment it led to: `payment_id` is empty until somebody decided."""

    reference: str
    amount: int
    currency: str
    country: str
    channel: str
    capture_method: str
    status: str = OPEN
    failure_code: str = ""
    payment_id: str = ""
    captured: int = 0
    id: str = field(default_factory=lambda: f"pr-{uuid4()}")
    created: datetime = field(default_factory=clock.now)
    updated: datetime = field(default_factory=clock.now)


@dataclass
class Refund:
    """A refund of a part or all of a payment."""

    of: Request
    reference: str
    amount: int
    reason: str
    status: str = "PENDING"
    id: str = field(default_factory=lambda: f"rfd-{uuid4()}")
    created: datetime = field(default_factory=clock.now)
    updated: datetime = field(default_factory=clock.now)


class Books:
    """All of it; `announced` are the events, with their objects."""

    def __init__(self) -> None:
        self.requests: dict[str, Request] = {}
        self.refunds: dict[str, Refund] = {}
        self.announced: list[tuple[str, Request | Refund]] = []

    def create(self, request: Request, card: str, *, asks_payer: bool) -> Request:
        """Books a payment that is asked for; a card's reference is taken once."""
        if card and any(known.reference == request.reference for known in self.requests.values()):
            raise Refusal(409, "DATA_NOT_FOUND")
        self.requests[request.id] = request
        if card in FAILURES:
            self.fail(request, FAILURES[card])
        elif not asks_payer:
            self.approve(request)
        return request

    def approve(self, request: Request) -> None:
        """Approve the request, as the payer or the issuer."""
        request.payment_id = f"py-{uuid4()}"
        request.status = "AUTHORIZED" if request.capture_method == "MANUAL" else "SUCCEEDED"
        if request.status == "SUCCEEDED":
            request.captured = request.amount
        request.updated = clock.now()
        self.announced.append(("payment.capture" if request.captured else "payment.authorization", request))

    def fail(self, request: Request, code: str) -> None:
        """Fail the request, as the payer or the issuer."""
        request.payment_id, request.status, request.failure_code = f"py-{uuid4()}", "FAILED", code
        self.announced.append(("payment.failure", request))

    def expire(self, request: Request) -> None:
        """Nobody came in time."""
        request.status = "EXPIRED"
        self.announced.append(("payment_request.expiry", request))

    def end(self, request: Request) -> Request:
        """End a request that waits for its payer."""
        if request.status != OPEN:
            raise Refusal(400, "INACTIVE_PAYMENT_REQUEST")
        request.status = "CANCELED"
        return request

    def capture(self, request: Request, amount: int) -> Request:
        """Capture a part or all of the hold, once."""
        if request.status != "AUTHORIZED":
            raise Refusal(400, "INELIGIBLE_TRANSACTION_STATUS")
        if amount > request.amount:
            raise Refusal(400, "CAPTURE_AMOUNT_EXCEEDED")
        request.status, request.captured, request.updated = "SUCCEEDED", amount, clock.now()
        self.announced.append(("payment.capture", request))
        return request

    def release(self, request: Request) -> Request:
        """Lets go what is held."""
        if request.status != "AUTHORIZED":
            raise Refusal(400, "INELIGIBLE_TRANSACTION_STATUS")
        request.status = "CANCELED"
        return request

    def refund(self, refund: Refund, key: str) -> Refund:
        """Refund a part or all of it, once for each key, one at a time."""
        if key in self.refunds:
            return self.refunds[key]
        others = [known for known in self.refunds.values() if known.of is refund.of]
        if any(known.status == "PENDING" for known in others):
            raise Refusal(400, "REFUND_IN_PROGRESS")
        if refund.of.status != "SUCCEEDED":
            raise Refusal(400, "INELIGIBLE_TRANSACTION_STATUS")
        if refund.amount + sum(known.amount for known in others) > refund.of.captured:
            raise Refusal(400, "REFUND_AMOUNT_EXCEEDED")
        self.refunds[key] = refund
        return refund

    def settle_refunds(self) -> None:
        """Every refund that waits arrives."""
        for refund in self.refunds.values():
            if refund.status == "PENDING":
                refund.status, refund.updated = "SUCCEEDED", clock.now()
                self.announced.append(("refund.succeeded", refund))

    def fail_refund(self, refund: Refund) -> None:
        """Send a refund back, although it may have succeeded."""
        refund.status, refund.updated = "FAILED", clock.now()
        self.announced.append(("refund.failed", refund))
