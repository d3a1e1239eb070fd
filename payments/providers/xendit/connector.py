"""Xendit as a `Provider`. Status: contract-tested, not run against the provider."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from uuid import uuid4

from django.conf import settings

from payments.providers import http
from payments.providers.accounts import VISIBLE_ASCII, VISIBLE_FORM, Account, AccountField, Connector
from payments.providers.base import (
    Capabilities,
    CardData,
    Declined,
    NotFound,
    NotSent,
    Operation,
    Outcome,
    Payment,
    PayoutOutcome,
    Pending,
    Rejected,
    Unknown,
    WebhookEvent,
)
from payments.providers.disputes import DisputeResponse, FoundDispute
from payments.providers.done_there import DoneThere
from payments.providers.payouts import PayoutOrder
from payments.providers.xendit import answers, bodies, calls, operations, payouts, webhooks
from payments.providers.xendit.channels import CHANNELS, DOMAINS
from payments.providers.xendit.client import Asked, XenditClient
from payments.providers.xendit.declines import declined
from payments.providers.xendit.disputes import lookup, responses
from payments.providers.xendit.fields import Body, credentials
from payments.providers.xendit.lookups import outcomes, records

COUNTRY = "PH"
Read = Callable[[Operation, Asked], Outcome]


class Xendit:
    """One account at Xendit. It asks up to four times in one call, and each time may take half a minute."""

    name = "xendit"
    timeout_seconds = 125

    def __init__(self, client: XenditClient, callback_token: str, country: str = COUNTRY) -> None:
        self._client = client
        self._callback_token = callback_token
        self._country = country

    def capabilities(self, source_type: str) -> Capabilities | None:
        channel = CHANNELS.get(source_type)
        return channel.capabilities if channel else None

    def create_payment(self, payment: Payment) -> Outcome:
        return answers.payment(payment, calls.create(self._client, payment, self._country))

    def plain_decline(self, payment: Payment) -> Declined:
        reason = "CARD_DECLINED" if payment.card else "FAILURE_DETAILS_UNAVAILABLE"
        return declined(reason, f"pr-{uuid4()}")

    def continue_payment(self, payment: Payment, params: Mapping[str, str]) -> Outcome:
        return self.resolve(payment)

    def capture(self, operation: Operation) -> Outcome:
        return self._operate(operation, "capture", operations.captured, bodies.capture(operation))

    def void(self, operation: Operation) -> Outcome:
        outcome = self._operate(operation, "cancel", operations.voided)
        # A hold that ran out is refused, and released all the same.
        return self.resolve(operation) if isinstance(outcome, Declined) else outcome

    def _operate(self, operation: Operation, what: str, read: Read, body: Body | None = None) -> Outcome:
        payment_id = outcomes.find_payment_id(self._client, operation)
        if not isinstance(payment_id, str):
            return NotSent(f"nothing was asked: {payment_id.why}")
        outcome = read(operation, calls.do_with_payment(self._client, payment_id, what, body))
        return Pending("") if isinstance(outcome, NotFound) else outcome

    def cancel(self, operation: Operation) -> Outcome:
        return operations.cancelled(operation, calls.end_request(self._client, operation.payment_provider_ref))

    def refund(self, operation: Operation) -> Outcome:
        return operations.refunded(operation, calls.refund(self._client, operation))

    def extend(self, operation: Operation) -> Outcome:
        return Rejected("not_supported", "Xendit does not extend holds.")

    def resolve(self, asked: Payment | Operation) -> Outcome:
        if isinstance(asked, Payment):
            return outcomes.resolve_payment(self._client, asked, self._country)
        return outcomes.resolve_operation(self._client, asked)

    def create_payout(self, order: PayoutOrder) -> PayoutOutcome:
        return payouts.create(self._client, order)

    def find_payout(self, order: PayoutOrder) -> PayoutOutcome:
        return payouts.find(self._client, order)

    def find_dispute(self, provider_ref: str) -> FoundDispute | Unknown | NotSent | NotFound:
        return lookup.find(self._client, provider_ref)

    def respond(self, asked: DisputeResponse) -> Outcome:
        return responses.respond(self._client, asked)

    def done_between(self, since: datetime, until: datetime) -> Iterator[DoneThere]:
        return records.done_between(self._client, since, until)

    def read_webhook(self, headers: Mapping[str, str], body: bytes) -> list[WebhookEvent]:
        return webhooks.read_webhook(self._callback_token, headers, body)

    def test_credentials(self) -> Outcome:
        return credentials(calls.any_movement(self._client))


def connect(account: Account, send: http.Send = http.send) -> Xendit:
    """Xendit as this account reaches it."""
    client = XenditClient(settings.XENDIT_URL, account.credentials["secret_key"], send)
    return Xendit(client, account.credentials["callback_token"], account.settings.get("country") or COUNTRY)


CONNECTOR = Connector(
    name="xendit",
    title="Xendit",
    credentials=(
        AccountField(
            "secret_key",
            "Secret API key",
            "Dashboard: Settings, API keys. It needs to write money in and to read transactions, and for payouts to "
            "write money out.",
            # It is the user name of HTTP Basic, which ends at a colon.
            pattern=re.compile(r"[!-9;-~]{1,4096}"),
            form=VISIBLE_FORM,
        ),
        AccountField(
            "callback_token",
            "Webhook verification token",
            "Dashboard: Settings, Webhooks.",
            pattern=VISIBLE_ASCII,
            form=VISIBLE_FORM,
        ),
    ),
    settings=(
        AccountField(
            "country",
            "Country",
            "Two letters; the Philippines (PH) unless given.",
            required=False,
            pattern=re.compile("[A-Z]{2}"),
            form="It must be two capital letters, such as PH.",
        ),
    ),
    connect=connect,
    domains=DOMAINS,
    webhook_headers=(webhooks.TOKEN_HEADER,),
    takes_responses=True,
    keeps_records=True,
    payout_obstacle=payouts.obstacle,
    test_card=CardData("4000000000001000", "12", "2039", "Juan dela Cruz", "123"),
)
