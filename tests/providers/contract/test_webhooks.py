"""What a provider reports by itself: the same at every provider."""

import pytest

from payments.providers.base import Approved, BadSignature, Payment, Provider, WebhookEvent
from tests.providers.bench import AMOUNT, Bench, SignedMessage, begun, redirected


def test_a_webhook_names_what_it_is_about(bench: Bench) -> None:
    payment = begun(bench, redirected(bench))
    announced = [event for webhook in paid(bench, payment) for event in read(bench.connector, webhook)]
    assert payment.reference in {event.reference for event in announced}
    assert {(event.amount, event.currency) for event in announced} <= {(AMOUNT, "PHP"), (None, "")}


def test_a_webhook_reported_twice_is_known_by_its_key(bench: Bench) -> None:
    [webhook, *_] = paid(bench, begun(bench, redirected(bench)))
    first, again = read(bench.connector, webhook), read(bench.connector, webhook)
    assert [event.key for event in first] == [event.key for event in again]


def test_a_webhook_that_somebody_else_sent_is_not_read(bench: Bench) -> None:
    [webhook, *_] = paid(bench, begun(bench, redirected(bench)))
    with pytest.raises(BadSignature):
        read(bench.connector, bench.forge(webhook))


def test_credentials_are_known_to_the_provider(bench: Bench) -> None:
    assert isinstance(bench.connector.test_credentials(), Approved)


def paid(bench: Bench, payment: Payment) -> list[SignedMessage]:
    """Pay `payment` as its payer; return the webhooks."""
    bench.pay(payment)
    bench.let_pass()
    return bench.webhooks()


def read(connector: Provider, webhook: SignedMessage) -> list[WebhookEvent]:
    """Everything that one message reports."""
    return connector.read_webhook(*webhook)
