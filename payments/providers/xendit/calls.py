"""What Xendit can be asked, one request each."""

from typing import Any
from urllib.parse import quote

from payments.providers.base import NotSent, Operation, Payment, Unknown
from payments.providers.xendit import bodies
from payments.providers.xendit.client import Answer, Asked, Client
from payments.providers.xendit.fields import Body, objects

PAYMENT_REQUESTS = "/v3/payment_requests"
PAYMENTS = "/v3/payments"
REFUNDS = "/refunds"
TRANSACTIONS = "/transactions"


def create(client: Client, payment: Payment, country: str) -> Asked:
    """Take or hold a payment, or return what its payer must do first."""
    return client.post(PAYMENT_REQUESTS, bodies.payment_request(payment, country))


def get_request(client: Client, ref: str) -> Asked:
    """Get a payment request."""
    return client.get(f"{PAYMENT_REQUESTS}/{quote(ref, safe='')}")


def end_request(client: Client, ref: str) -> Asked:
    """End a payment request that waits for its payer."""
    return client.post(f"{PAYMENT_REQUESTS}/{quote(ref, safe='')}/cancel")


def get_payment(client: Client, payment_id: str) -> Asked:
    """Get the payment that a request led to."""
    return client.get(f"{PAYMENTS}/{quote(payment_id, safe='')}")


def do_with_payment(client: Client, payment_id: str, what: str, body: dict[str, Any] | None = None) -> Asked:
    """Capture or cancels a payment that is held."""
    return client.post(f"{PAYMENTS}/{quote(payment_id, safe='')}/{what}", body)


def refund(client: Client, operation: Operation) -> Asked:
    """Refund money, once for each reference."""
    return client.post(REFUNDS, bodies.refund(operation), idempotency_key=operation.reference)


def movements(client: Client, reference: str) -> list[Body] | NotSent | Unknown:
    """Return the money movements under one of our references: payments and refunds."""
    answer = client.get(TRANSACTIONS, reference_id=reference)
    if not isinstance(answer, Answer):
        return answer
    if answer.error_code or not isinstance(answer.body.get("data"), list):
        return Unknown("the provider does not list what moved")
    return [movement for movement in objects(answer.body, "data") if movement.get("reference_id") == reference]


def any_movement(client: Client) -> Asked:
    """Anything that only an account that Xendit knows may see."""
    return client.get(TRANSACTIONS, limit="1")
