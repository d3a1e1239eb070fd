"""What the fake knows, in Xendit's shapes."""

from decimal import Decimal
from typing import Any

from tests.providers.xendit.books import OPEN, Refund, Request

NOW = "2026-11-21T12:00:00Z"
QR_CHANNELS = ("QRPH",)
MOVED = {"PENDING": "PENDING", "SUCCEEDED": "SUCCESS", "FAILED": "FAILED", "CANCELLED": "VOIDED"}


def major(amount: int) -> float:
    return float(Decimal(amount).scaleb(-2))


def minor(number: float) -> int:
    return int(Decimal(str(number)).scaleb(2))


def described_request(request: Request) -> dict[str, Any]:
    shape = _common(request) | {"channel_properties": {}}
    if request.status == OPEN:
        shape["actions"] = [_action(request)]
    if request.payment_id:
        shape["latest_payment_id"] = request.payment_id
    return shape


def described_payment(request: Request) -> dict[str, Any]:
    shape = _common(request) | {"payment_id": request.payment_id}
    if request.captured:
        capture_id = request.payment_id.replace("py-", "cap-")
        made = {"capture_id": capture_id, "capture_amount": major(request.captured), "capture_timestamp": NOW}
        shape["captures"] = [made]
    return shape


def _common(request: Request) -> dict[str, Any]:
    shape = {
        "business_id": "kaha",
        "reference_id": request.reference,
        "payment_request_id": request.id,
        "type": "PAY",
        "country": request.country,
        "currency": request.currency,
        "request_amount": major(request.amount),
        "capture_method": request.capture_method,
        "channel_code": request.channel,
        "status": request.status,
        "created": NOW,
        "updated": NOW,
    }
    return shape | ({"failure_code": request.failure_code} if request.failure_code else {})


def _action(request: Request) -> dict[str, str]:
    if request.channel in QR_CHANNELS:
        return {"type": "PRESENT_TO_CUSTOMER", "descriptor": "QR_STRING", "value": f"00020101{request.id}"}
    url = f"https://checkout.example.com/{request.id}"
    return {"type": "REDIRECT_CUSTOMER", "descriptor": "WEB_URL", "value": url}


def described_refund(refund: Refund) -> dict[str, Any]:
    return {
        "id": refund.id,
        "payment_request_id": refund.of.id,
        "payment_id": refund.of.payment_id,
        "reference_id": refund.reference,
        "channel_code": refund.of.channel,
        "currency": refund.of.currency,
        "amount": major(refund.amount),
        "status": refund.status,
        "reason": refund.reason,
        "failure_code": None,
        "created": NOW,
        "updated": NOW,
    }


def listed_payment(request: Request) -> dict[str, Any]:
    movement = _movement(request.payment_id, request, "PAYMENT", request.captured) | _times(request)
    return movement | {"reference_id": request.reference, "status": "SUCCESS", "cashflow": "MONEY_IN"}


def listed_refund(refund: Refund) -> dict[str, Any]:
    movement = _movement(refund.id, refund.of, "REFUND", refund.amount) | _times(refund)
    announced = {"reference_id": refund.reference, "status": MOVED[refund.status], "cashflow": "MONEY_OUT"}
    return movement | announced


def _times(about: Request | Refund) -> dict[str, str]:
    """When it began and last changed: the time of a capture is not published, so it is that of its request here."""
    return {"created": about.created.isoformat(), "updated": about.updated.isoformat()}


def _movement(product_id: str, request: Request, kind: str, amount: int) -> dict[str, Any]:
    return {
        "id": f"txn-{product_id}",
        "product_id": product_id,
        "type": kind,
        "channel_code": request.channel,
        "currency": request.currency,
        "amount": major(amount),
        "product_data": {"payment_request_id": request.id, "capture_id": None},
    }


def event(name: str, about: Request | Refund) -> dict[str, Any]:
    """Return a webhook's body."""
    if isinstance(about, Refund):
        data = described_refund(about)
    else:
        data = described_request(about) if name == "payment_request.expiry" else described_payment(about)
    return {"event": name, "business_id": "kaha", "created": NOW, "data": data}


def overstated(body: dict[str, Any]) -> dict[str, Any]:
    """Return the same with another amount."""
    return body | {name: body[name] + 1 for name in ("request_amount", "amount") if name in body}
