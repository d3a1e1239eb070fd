"""Adyen: an answer at once to a payment, and to everything else only by webhook. There is nothing to look up.

So an unknown outcome is requested again with the same body under the same key, which returns the first answer while
Adyen certainly keeps the key; afterwards the payment is cancelled by its reference.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from django.conf import settings

from payments import clock
from payments.providers import http
from payments.providers.accounts import VISIBLE_ASCII, VISIBLE_FORM, Account, AccountField, Connector
from payments.providers.adyen import answers, bodies, channels, defense, webhooks
from payments.providers.adyen.client import AdyenClient, AdyenRefused, ask
from payments.providers.adyen.declines import GENERIC, declined, new_psp_reference
from payments.providers.base import (
    Approved,
    Capabilities,
    CardData,
    Declined,
    NotFound,
    NotSent,
    Operation,
    Outcome,
    Payment,
    Pending,
    Rejected,
    Unknown,
    WebhookEvent,
)
from payments.providers.disputes import DisputeResponse

# Adyen keeps a key for 7 days or longer; under one that it forgot, the same question is a new one.
KEY_KEPT = timedelta(days=6)
# Adyen sends a webhook about each payment, and repeats it for days until it is answered.
UNHEARD_OF = timedelta(days=6)
# A card that may be charged anew by asking again is not, once its payer has gone away.
PAYER_WAITS = timedelta(hours=1)
# What each operation whose outcome may be unknown is at Adyen. A cancellation and an extension have one at once.
AGAIN = {
    Operation.Kind.CAPTURE: bodies.TAKEN,
    Operation.Kind.VOID: bodies.RELEASED,
    Operation.Kind.REFUND: bodies.RETURNED,
}


class Adyen:
    """A `Provider`: one account at Adyen."""

    name = "adyen"
    timeout_seconds = 35

    def __init__(self, account: Account, address: str, send: http.Send = http.send) -> None:
        self._client = AdyenClient(account, address, send)
        self._merchant_account = account.settings["merchant_account"]
        self._hmac_key = account.credentials["hmac_key"]

    def capabilities(self, source_type: str) -> Capabilities | None:
        return channels.capabilities(source_type)

    def create_payment(self, payment: Payment) -> Outcome:
        return _outcome_of(self._pay, payment)

    def plain_decline(self, payment: Payment) -> Declined:
        return declined("Refused", GENERIC.number, new_psp_reference(), "unchecked")

    def continue_payment(self, payment: Payment, params: Mapping[str, str]) -> Outcome:
        brought = params.get("redirectResult")
        return _outcome_of(self._continue, payment, brought) if brought else NotSent("the payer brought nothing")

    def capture(self, operation: Operation) -> Outcome:
        return _outcome_of(self._operate, bodies.TAKEN, operation)

    def void(self, operation: Operation) -> Outcome:
        return _outcome_of(self._operate, bodies.RELEASED, operation)

    def refund(self, operation: Operation) -> Outcome:
        return _outcome_of(self._operate, bodies.RETURNED, operation)

    def cancel(self, operation: Operation) -> Outcome:
        """Return Approved where Adyen received it; a payer who was faster is reported later, as late money."""
        outcome = _outcome_of(self._end, operation.payment_reference, operation.reference)
        return Approved(outcome.provider_ref) if isinstance(outcome, Pending) else outcome

    def extend(self, operation: Operation) -> Outcome:
        return Rejected("not_supported", "Adyen keeps a hold for as long as its card scheme says.")

    def resolve(self, asked: Payment | Operation) -> Outcome:
        return _outcome_of(self._find_operation if isinstance(asked, Operation) else self._find_payment, asked)

    def respond(self, asked: DisputeResponse) -> Outcome:
        return _outcome_of(defense.respond, self._client, self._merchant_account, asked)

    def read_webhook(self, headers: Mapping[str, str], body: bytes) -> list[WebhookEvent]:
        return webhooks.read(body, self._hmac_key, self._merchant_account)

    def test_credentials(self) -> Outcome:
        try:
            bytes.fromhex(self._hmac_key)
        except ValueError:
            return Rejected("hmac_key", "The HMAC key is not hexadecimal.")
        return _outcome_of(self._knock)

    def _pay(self, payment: Payment) -> Outcome:
        if payment.currency in channels.OTHER_UNITS:
            return Rejected("currency_not_supported", "Adyen counts this currency in other units.")
        body = bodies.payment(payment, self._merchant_account)
        return answers.created(ask(self._client.pay, body, key=payment.reference), payment)

    def _continue(self, payment: Payment, redirect_result: str) -> Outcome:
        body, key = bodies.details(redirect_result), _key(payment.reference, redirect_result)
        return answers.continued(ask(self._client.continue_payment, body, key=key), payment)

    def _operate(self, kind: str, operation: Operation) -> Outcome:
        body = bodies.modification(operation, kind, self._merchant_account)
        call, path = self._client.modify[kind], operation.payment_provider_ref
        return answers.modified(ask(call, body, path, key=operation.reference), operation, kind)

    def _end(self, payment_reference: str, key: str) -> Outcome:
        """Has a payment ended of which we may know no more than our own reference."""
        body = bodies.cancel(payment_reference, self._merchant_account)
        return answers.ended(ask(self._client.end, body, key=key), payment_reference)

    def _knock(self) -> Outcome:
        ask(self._client.list_methods, {"merchantAccount": self._merchant_account})
        return Approved("")

    def _find_payment(self, payment: Payment) -> Outcome:
        if _may_be_asked_again(payment):
            return self._pay(payment)
        outcome = self._end(payment.reference, _key(payment.reference, "cancel"))
        if not isinstance(outcome, Pending):
            return outcome
        return NotFound() if _never_came(payment) else Pending(payment.provider_ref)

    def _find_operation(self, operation: Operation) -> Outcome:
        if operation.provider_ref:
            # A repeated request would only be acknowledged again.
            return Pending(operation.provider_ref)
        if operation.kind == Operation.Kind.CANCEL:
            return self.cancel(operation)
        if operation.kind == Operation.Kind.EXTEND:
            return self.extend(operation)
        if clock.now() - _made_at(operation.reference) > KEY_KEPT:
            return Unknown("too late to ask again without doing it twice")
        return self._operate(AGAIN[Operation.Kind(operation.kind)], operation)


def _outcome_of(question: Callable[..., Outcome], *asked: object) -> Outcome:
    try:
        return question(*asked)
    except AdyenRefused as refused:
        return refused.outcome


def _may_be_asked_again(payment: Payment) -> bool:
    """Whether the first answer can be had in the same words, and nothing is taken by it that nobody expects."""
    if payment.asked_at is None:
        return False
    age = clock.now() - payment.asked_at
    if payment.source_type != "card":
        return age < KEY_KEPT
    is_whole = payment.card is not None and (payment.payer_absent or payment.card.cvc is not None)
    return is_whole and age < PAYER_WAITS


def _never_came(payment: Payment) -> bool:
    """Whether neither an answer nor a webhook has named it for so long that Adyen knows nothing of it."""
    return not payment.provider_ref and payment.asked_at is not None and clock.now() - payment.asked_at > UNHEARD_OF


def _made_at(reference: str) -> datetime:
    """When we made one of our references: the first 48 bits of a UUIDv7 are its millisecond."""
    return datetime.fromtimestamp((UUID(hex=reference).int >> 80) / 1000, UTC)


def _key(reference: str, step: str) -> str:
    """Return the idempotency key of a payment's follow-up step: the same for the same step."""
    return uuid5(UUID(hex=reference), step).hex


def _connect(account: Account, send: http.Send = http.send) -> Adyen:
    return Adyen(account, settings.ADYEN_URL, send)


CONNECTOR = Connector(
    name=Adyen.name,
    title="Adyen",
    credentials=(
        AccountField(
            "api_key",
            "API key",
            "Developers > API credentials > your credential > API key",
            pattern=VISIBLE_ASCII,
            form=VISIBLE_FORM,
        ),
        AccountField(
            "hmac_key",
            "HMAC key",
            "Developers > Webhooks > your standard webhook > HMAC key (hexadecimal)",
            pattern=re.compile(r"(?:[0-9A-Fa-f]{2}){16,128}"),
            form="It must be hexadecimal: 32 or more of the digits 0 to 9 and A to F.",
        ),
    ),
    settings=(
        AccountField(
            "merchant_account",
            "Merchant account",
            "The name of the account at the top of the Customer Area",
            pattern=re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}"),
            form="It must be a name of letters, digits, _, . and -, as the Customer Area shows it.",
        ),
        AccountField(
            "live_prefix",
            "Live URL prefix",
            "Developers > API URLs > Prefix; in live mode only",
            required=False,
            pattern=re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,46}[A-Za-z0-9])?"),
            form="It must be the prefix alone, such as 1797a841fbb37ca7-Company: letters, digits and hyphens.",
        ),
    ),
    connect=_connect,
    merchant_setting="merchant_account",
    domains=channels.DOMAINS,
    webhook_answer="[accepted]",
    takes_responses=True,
    test_card=CardData("4111111111111111", "03", "2030", "Juan dela Cruz", "737"),
)
