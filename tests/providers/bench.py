"""What the shared contract suite needs of a provider to play every part at it: kaha, payer and a bad network."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from payments import clock, ids
from payments.providers.base import (
    ActionRequired,
    Approved,
    CardData,
    Operation,
    Outcome,
    Payer,
    Payment,
    Pending,
    Provider,
    Unknown,
)
from tests.support.fake_provider import Spoilt

AMOUNT = 10_000
RETURN_URL = "https://pay.example.com/return/somewhere"
# A number without a meaning at any provider's fake, and a CVC that nobody checks.
CARD = CardData("4000000000003055", "12", "2039", "Juan dela Cruz", "123")
# How often a provider is asked again before its silence counts.
PATIENCE = 3

SignedMessage = tuple[Mapping[str, str], bytes]


@dataclass(frozen=True)
class Money:
    """What the provider's books say of everything under one of our references, in the smallest unit."""

    held: int = 0
    taken: int = 0
    returned: int = 0


class Bench(Protocol):
    """A provider, real or fake, and everything that others than kaha do at it.

    `redirect_type` is a source type whose payer acts on a page of the provider's.
    """

    connector: Provider
    redirect_type: str

    def card(self, declined: str = "", *, challenged: bool = False) -> CardData:
        """Return a card that is declined with this code, or that the issuer authenticates, or neither."""

    def pay(self, payment: Payment) -> Mapping[str, str]:
        """Pay on the provider's page. Return the query of the return URL."""

    def refuse(self, payment: Payment) -> Mapping[str, str]:
        """Refuse on the provider's page. Return the query of the return URL."""

    def run_out(self, payment: Payment) -> None:
        """End the provider's wait for a payer who never came."""

    def let_pass(self) -> None:
        """Everything happens that the provider does by itself after it answered."""

    def webhooks(self) -> list[SignedMessage]:
        """Return the provider's messages since the last call, oldest first."""

    def forge(self, webhook: SignedMessage) -> SignedMessage:
        """Return the message with a signature that is not the provider's."""

    def spoil_next(self, how: Spoilt) -> None:
        """Spoil the next request; a lookup only by DOWN.

        A provider in this process can only lose an answer.
        """

    def money(self, payment: Payment) -> Money:
        """Return a payment's amounts by the provider's books."""


def asked(bench: Bench, **members: Any) -> Payment:
    """Return a payment of PHP 100.00 to be taken by a card that the issuer approves, asked for just now."""
    payment = Payment(
        reference=ids.new_id().hex,
        amount=AMOUNT,
        currency="PHP",
        source_type="card",
        capture=True,
        authenticate=False,
        return_url=RETURN_URL,
        description="Halo-halo",
        statement_descriptor="SARI STORE",
        card=bench.card(),
        asked_at=clock.now(),
        payer=Payer("Juan dela Cruz", "juan@example.com", "+639171234567"),
    )
    return replace(payment, **members)


def redirected(bench: Bench, **members: Any) -> Payment:
    """Return the same by a type whose payer acts on the provider's page."""
    return asked(bench, source_type=bench.redirect_type, card=None, **members)


def begun(bench: Bench, payment: Payment) -> Payment:
    """`payment`, now that the provider waits for its payer."""
    outcome = bench.connector.create_payment(payment)
    assert isinstance(outcome, ActionRequired), outcome
    return replace(payment, provider_ref=outcome.provider_ref)


def taken(bench: Bench, **members: Any) -> Payment:
    """Return a payment that was approved."""
    payment = asked(bench, **members)
    outcome = settled(bench, payment, bench.connector.create_payment(payment))
    assert isinstance(outcome, Approved), outcome
    return replace(payment, provider_ref=outcome.provider_ref)


def operation(kind: str, of: Payment, amount: int | None = None, **members: Any) -> Operation:
    """Return a new capture, void, cancellation or refund of a payment, of all of it unless an amount is given."""
    whole = of.amount if amount is None else amount
    made = Operation(ids.new_id().hex, kind, of.reference, of.provider_ref, whole, of.currency)
    return replace(made, source_type=of.source_type, **members)


def operated(bench: Bench, operation: Operation) -> Outcome:
    """How an operation ends at last."""
    outcome: Outcome = getattr(bench.connector, operation.kind)(operation)
    return settled(bench, operation, outcome)


def settled(bench: Bench, asked: Payment | Operation, outcome: Outcome) -> Outcome:
    """How it ends at last what `outcome` was the first answer to: by the provider's webhooks, or by a lookup."""
    for _ in range(PATIENCE):
        if not isinstance(outcome, Pending | Unknown):
            break
        bench.let_pass()
        known = replace(asked, provider_ref=getattr(outcome, "provider_ref", "") or asked.provider_ref)
        outcome = noticed(bench, known) or bench.connector.resolve(known)
    return outcome


def noticed(bench: Bench, asked: Payment | Operation) -> Outcome | None:
    """Return the last outcome in the webhooks, looked up where they prove nothing; None where there is none.

    As the domain does, only what fits the request counts.
    """
    outcome: Outcome | None = None
    for headers, body in bench.webhooks():
        for event in bench.connector.read_webhook(headers, body):
            if event.reference == asked.reference and event.amount in (None, asked.amount):
                known = replace(asked, provider_ref=asked.provider_ref or event.provider_ref)
                outcome = event.outcome or bench.connector.resolve(known)
    return outcome
