"""What Xendit can be asked, one request each."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import quote

from payments.providers import http
from payments.providers.base import NotSent, Operation, Payment, Unknown
from payments.providers.xendit import bodies
from payments.providers.xendit.client import Asked, XenditAnswer, XenditClient
from payments.providers.xendit.fields import Body, objects

PAYMENT_REQUESTS = "/v3/payment_requests"
PAYMENTS = "/v3/payments"
REFUNDS = "/refunds"
TRANSACTIONS = "/transactions"
DISPUTES = "/v1/disputes"


def create(client: XenditClient, payment: Payment, country: str) -> Asked:
    """Take or hold a payment, or return what its payer must do first."""
    return client.post(PAYMENT_REQUESTS, bodies.payment_request(payment, country))


def get_request(client: XenditClient, ref: str) -> Asked:
    """Get a payment request."""
    return client.get(f"{PAYMENT_REQUESTS}/{quote(ref, safe='')}")


def end_request(client: XenditClient, ref: str) -> Asked:
    """End a payment request that waits for its payer."""
    return client.post(f"{PAYMENT_REQUESTS}/{quote(ref, safe='')}/cancel")


def get_payment(client: XenditClient, payment_id: str) -> Asked:
    """Get the payment that a request led to."""
    return client.get(f"{PAYMENTS}/{quote(payment_id, safe='')}")


def do_with_payment(client: XenditClient, payment_id: str, what: str, body: Body | None = None) -> Asked:
    """Capture or cancels a payment that is held."""
    return client.post(f"{PAYMENTS}/{quote(payment_id, safe='')}/{what}", body)


def refund(client: XenditClient, operation: Operation) -> Asked:
    """Refund money, once for each reference."""
    return client.post(REFUNDS, bodies.refund(operation), idempotency_key=operation.reference)


def get_refund(client: XenditClient, refund_id: str) -> Asked:
    """Get a refund by Xendit's name of it."""
    return client.get(f"{REFUNDS}/{quote(refund_id, safe='')}")


def movements(client: XenditClient, reference: str) -> list[Body] | NotSent | Unknown:
    """Return the money movements under one of our references: payments and refunds."""
    answer = client.get(TRANSACTIONS, reference_id=reference)
    if not isinstance(answer, XenditAnswer):
        return answer
    if answer.error_code or not isinstance(answer.body.get("data"), list):
        return Unknown("the provider does not list what moved")
    return [movement for movement in objects(answer.body, "data") if movement.get("reference_id") == reference]


def list_movements(client: XenditClient, since: datetime, until: datetime, limit: int, after_id: str) -> Asked:
    """List `limit` payments and refunds that began until `until` and changed since `since`, on from `after_id`."""
    times = {"updated[gte]": _time(since), "created[lte]": _time(until)}
    page = {"limit": str(limit)} | ({"after_id": after_id} if after_id else {})
    return client.get(TRANSACTIONS, types=("PAYMENT", "REFUND"), **times, **page)


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def any_movement(client: XenditClient) -> Asked:
    """Anything that only an account that Xendit knows may see."""
    return client.get(TRANSACTIONS, limit="1")


def get_dispute(client: XenditClient, dispute_id: str) -> Asked:
    """Get a dispute with its evidence and all that happened to it."""
    return client.get(_dispute(dispute_id), include_timeline="true")


def add_evidence(client: XenditClient, dispute_id: str, fields: Sequence[http.Field]) -> Asked:
    """Add evidence to a dispute that waits for a response; nothing is final by it."""
    return client.post_form(f"{_dispute(dispute_id)}/evidences", fields)


def delete_evidence(client: XenditClient, dispute_id: str, evidence_id: str) -> Asked:
    """Delete a piece of evidence of a dispute that waits for a response."""
    return client.delete(f"{_dispute(dispute_id)}/evidences/{quote(evidence_id, safe='')}")


def respond(client: XenditClient, dispute_id: str, how: Literal["challenge", "accept"]) -> Asked:
    """Challenge a dispute with the evidence that is there, or accept its loss; neither can be undone."""
    return client.begin(f"{_dispute(dispute_id)}/{how}")


def _dispute(dispute_id: str) -> str:
    return f"{DISPUTES}/{quote(dispute_id, safe='')}"
