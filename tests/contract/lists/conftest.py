"""A merchant that has some of everything, thousands of times."""

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from customers.models import Customer, CustomerSource
from payments.domain.merchants.merchants import create_merchant
from payments.domain.payouts.make import make_now
from payments.ledger.transparency.append import append
from payments.models import (
    Attempt,
    Card,
    Charge,
    Checkout,
    Dispute,
    Event,
    IdempotencyRecord,
    Merchant,
    PayerMessage,
    PaymentLink,
    PaymentRequest,
    Payout,
    PayoutPart,
    Posting,
    Refund,
    Source,
    Webhook,
    WebhookEndpoint,
)
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment
from tests.checkout.cast import billed, opened, pay
from tests.checkout.shelf import buy, linked
from tests.client import CHALLENGED, DECLINED, Api, made
from tests.contract.calls import endpoint, order, vaulted
from tests.contract.checkout_calls import held_session
from tests.copies import Table, multiply
from tests.disputes.stories import AT_ONCE, disputed
from tests.empty_database import emptied_once
from tests.payouts.stories import give_account, give_schedule, settled
from tests.webhooks.test_outbox import NOTIFIED

COPIES = 1000
# That of a copied attempt.
MOVED_REFERENCE = "replace(pg_temp.moved(reference::uuid, number)::text, '-', '')"
TABLES = (
    Table(IdempotencyRecord, placed={"key": "key || '-' || number"}),
    Table(Source),
    Table(Card, ("id", "source_id"), {"fingerprint": "sha256(fingerprint || number::text::bytea)"}),
    Table(Customer, placed={"email": "number || email"}),
    # All of one source, which only a vaulted one may have.
    Table(
        Charge,
        ("id", "checkout_id"),
        {"created_at": "created_at - number * interval '1 second'", "single_use": "false"},
    ),
    # All payments of links are of one link.
    Table(Checkout),
    Table(PaymentRequest, ("checkout_id",), {"place": "10000 * place + number"}),
    Table(PayerMessage, ("id", "about_id")),
    Table(Attempt, ("id", "charge_id", "idempotency_id", "refund_id")),
    Table(Event, ("id", "object_id")),
    Table(Posting, ("id", "journal", "charge_id", "payout_id", "attempt_id")),
    # All of one payout, as those of the settlement are.
    Table(PayoutPart, condition="NOT is_settlement AND payout_id IS NOT NULL"),
    Table(Webhook, ("id", "event_id"), {"state": "'delivered'", "due_at": "NULL", "leased_until": "NULL"}),
    Table(
        SimulatedPayment,
        placed={"reference": MOVED_REFERENCE, "token_digest": "sha256(token_digest || number::text::bytea)"},
    ),
    Table(SimulatedOperation, ("id", "payment_id"), {"reference": MOVED_REFERENCE}),
)
# To read a small one as a whole is cheaper than to look for each row of a page.
FURTHER_COPIES = 10_000
FURTHER_TABLES = (
    Table(CustomerSource, ("id", "customer_id", "source_id")),
    Table(Refund, ("id", "charge_id")),
    Table(Dispute, ("id", "charge_id")),
    Table(Payout, placed={"created_at": "created_at - number * interval '1 second'"}),
    Table(PaymentLink, placed={"short": "left(md5(short || number), 10)"}),
    # Deleted, as it is: of others a merchant has 16 at most.
    Table(WebhookEndpoint),
)


def sell_by_checkouts(api: Api) -> None:
    """Have sessions, requests and links in each state that the API shows."""
    held_session(api)
    pay(opened(api))
    made(api.post(f"/checkout_sessions/{opened(api)['id']}/expire"))
    made(api.post(f"/payment_requests/{billed(api)['id']}/void", {"reason": "Sent twice"}))
    request = billed(api)
    pay(request, DECLINED)
    pay(request)
    made(api.post(f"/payment_links/{linked(api)['id']}/deactivate"))
    buy(linked(api), 1, 1)
    opened(api)
    billed(api)


@pytest.fixture(scope="module")
def crowded(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Api]:
    """Give the API of a merchant that has some of everything, thousands of times, to tests that only read it."""
    with emptied_once(django_db_blocker):
        yield fill(Api(create_merchant("Sari Store").keys["sk_test"]))


def fill(api: Api) -> Api:
    """Make some of everything for a merchant, and copy it thousands of times; return its API."""
    sell_by_checkouts(api)
    made(api.delete(f"/webhook_endpoints/{endpoint(api)['id']}"))
    for source in (vaulted(api), api.source(DECLINED), api.source(CHALLENGED), api.source(redirect=NOTIFIED)):
        made(api.post("/charges/", order(source), f"charge-{source}"))
    for charge in (api.held(), api.charge()):
        made(api.post(f"/charges/{charge['id']}/{'void' if charge['authorized'] else 'refund'}", None, charge["id"]))
    disputed(api, AT_ONCE)
    # One part is a settlement, and one a refund after it.
    made(api.post(f"/charges/{settled(api)['id']}/refund", {"amount": 1}))
    settled(api, currency="USD")
    give_account(Merchant.objects.get())
    make_now(give_schedule(Merchant.objects.get()).id)
    multiply(COPIES, TABLES)
    # PostgreSQL must know the leaves too when it plans to read them.
    append(most_batches=None)
    multiply(FURTHER_COPIES, FURTHER_TABLES)
    return api
