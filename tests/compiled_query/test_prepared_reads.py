"""Whatever is compiled once finds what the ORM finds where it compiles the same query anew."""

import sys
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from customers.api import views
from customers.domain.changes import find as find_customer
from customers.models import Customer, CustomerSource
from customers.rendering import CUSTOMER
from payments import clock
from payments.api import charges, disputes, events, payouts, requests
from payments.api.checkout import links, sessions
from payments.api.checkout import requests as payment_requests
from payments.api.filters import STATUS_PAIRS
from payments.api.views.lists import Listing
from payments.api.webhooks import endpoints
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import FIRST_ID, LAST_ID
from payments.domain import prepared_reads
from payments.domain.cards import bin_table
from payments.domain.charging.charges import find as find_charge
from payments.domain.checkout.links import find as find_link
from payments.domain.checkout.requests import find as find_request
from payments.domain.checkout.sessions import find as find_session
from payments.domain.disputes.find import find as find_dispute
from payments.domain.shared import idempotency
from payments.domain.shared.finder import Finder
from payments.domain.webhooks.endpoints import find as find_endpoint
from payments.ids import new_id
from payments.models import (
    ApiKey,
    ApiRequest,
    Attempt,
    BinRange,
    Charge,
    Checkout,
    Dispute,
    Event,
    IdempotencyRecord,
    Merchant,
    PaymentLink,
    PaymentRequest,
    Payout,
    Posting,
    Refund,
    WebhookEndpoint,
)
from payments.providers.simulator import books
from payments.providers.simulator.models import SimulatedPayment
from payments.rendering.objects.charges import CHARGE
from payments.rendering.objects.checkout import SESSION
from payments.rendering.objects.disputes import DISPUTE
from payments.rendering.objects.payment_links import PAYMENT_LINK
from payments.rendering.objects.payment_requests import REQUEST
from payments.rendering.objects.payouts import PAYOUT
from payments.rendering.objects.webhook_endpoints import WEBHOOK_ENDPOINT
from tests.factories import ChargeFactory, RefundFactory
from tests.ledger.test_guards import commit, lines
from tests.payouts.stories import make_payout
from tests.risk.factories import block_card

pytestmark = pytest.mark.django_db

IN_MODE = ("merchant_id", "livemode")
PAGE = (*IN_MODE, "length", "below")
PAGE_OF_CHARGES = (*PAGE, "above", "pairs")
FIRST_PAGE_OF_EVENTS = (*IN_MODE, "no_start", "length")
PAGE_OF_EVENTS = (*IN_MODE, "after", "length")
FOLLOWED = (*PAGE, "above")
PAYER = ("fingerprint", "bin_digits", "billing", "shipping")
# Rows for rendering, which are no instances, are held against the ORM's as they are rendered.
SHOWN = {
    charges.CHARGES.page: CHARGE,
    disputes.DISPUTES.page: DISPUTE,
    payouts.PAYOUTS.page: PAYOUT,
    endpoints.ENDPOINTS.page: WEBHOOK_ENDPOINT,
    views.CUSTOMERS.page: CUSTOMER,
    sessions.SESSIONS.page: SESSION,
    links.LINKS.page: PAYMENT_LINK,
    payment_requests.REQUESTS.page: REQUEST,
}
# What a query calls a value of the stage that has a name of its own there.
ARGUMENT = {"any_status": "status", "place": "status"}
# What finds one object by its public ID, with where the ID of the stage's one is.
FINDERS: dict[str, tuple[Finder[Any], type[Model], str]] = {
    "charge": (find_charge, Charge, "id"),
    "session": (find_session, Charge, "checkout_id"),
    "payment request": (find_request, PaymentRequest, "checkout_id"),
    "link": (find_link, PaymentLink, "id"),
    "dispute": (find_dispute, Dispute, "id"),
    "payout": (payouts.find_payout, Payout, "id"),
    "transaction": (payouts.find_transaction, Posting, "id"),
    "event": (events.find, Event, "id"),
    "request": (requests.find_request, ApiRequest, "request_id"),
    "webhook endpoint": (find_endpoint, WebhookEndpoint, "id"),
    "customer": (find_customer, Customer, "id"),
}
EVERY_PAIR = (1 << len(STATUS_PAIRS)) - 1
# What each query is given, by the names of the stage below.
READS: dict[str, tuple[CompiledQuery[Any, Any], tuple[str, ...]]] = {
    "key": (prepared_reads.key, ("digest",)),
    "idempotency record": (idempotency.idempotency_record, (*IN_MODE, "key")),
    "source": (prepared_reads.source, (*IN_MODE, "source_id")),
    "source to charge": (prepared_reads.source_to_charge, (*IN_MODE, "source_id", "address", "now")),
    "block of a payer": (prepared_reads.block_of_payer, (*IN_MODE, *PAYER, "address", "now")),
    "charge of attempt": (prepared_reads.charge_of_attempt, ("merchant_id", "attempt_id", "charge_id")),
    "checkout of a page": (prepared_reads.checkout, ("checkout_id",)),
    "checkout of a charge": (prepared_reads.checkout_of_charge, ("merchant_id", "checkout_id")),
    "charges of a checkout": (prepared_reads.charges_of_checkout, ("merchant_id", "checkout_id")),
    "authorization by route": (prepared_reads.authorization_by_route, ("merchant_id", "charge_id", "route_id")),
    "authorizing attempt": (prepared_reads.authorizing_attempt, ("merchant_id", "charge_id")),
    "entries of the BIN table": (bin_table.entries, ("shown", "first_4", "first_7")),
    "simulated payment": (books._booked, ("reference",)),
    "page of charges": (charges.CHARGES.page, PAGE_OF_CHARGES),
    "page of charges in a time": (charges.CHARGES.page, (*PAGE_OF_CHARGES, "later_than", "before")),
    "page of charges of a source": (charges.CHARGES.page, (*PAGE_OF_CHARGES, "source_id")),
    "page of disputes": (disputes.DISPUTES.page, PAGE),
    "page of disputes in a status": (disputes.DISPUTES.page, (*PAGE, "status")),
    "page of disputes of a charge": (disputes.DISPUTES.page, (*PAGE, "charge_id")),
    "first page of events": (events.EVENTS.page, FIRST_PAGE_OF_EVENTS),
    "page of events of a type": (events.EVENTS.page, (*PAGE_OF_EVENTS, "kind")),
    "page of events of an object": (events.EVENTS.page, (*FIRST_PAGE_OF_EVENTS, "object_id")),
    "events after another": (events.EVENTS.newer, FOLLOWED),
    "events of a type after another": (events.EVENTS.newer, (*FOLLOWED, "kind")),
    "page of payouts": (payouts.PAYOUTS.page, (*PAGE, "above")),
    "page of payouts in a currency": (payouts.PAYOUTS.page, (*PAGE, "above", "currency")),
    "page of requests": (requests.REQUESTS.page, PAGE),
    "requests after another": (requests.REQUESTS.newer, FOLLOWED),
    "page of webhook endpoints": (endpoints.ENDPOINTS.page, PAGE),
    "page of sessions": (sessions.SESSIONS.page, PAGE),
    "page of links": (links.LINKS.page, PAGE),
    "page of links in a state": (links.LINKS.page, (*PAGE, "active")),
    "page of payment requests": (payment_requests.REQUESTS.page, (*PAGE, "any_status")),
    "page of paid payment requests": (payment_requests.REQUESTS.page, (*PAGE, "place")),
    "page of customers": (views.CUSTOMERS.page, PAGE),
    "page of customers of an address": (views.CUSTOMERS.page, (*PAGE, "email")),
    **{name: (finder.query, ()) for name, (finder, _, _) in FINDERS.items()},
}


def paid_by(charge: Charge) -> Checkout:
    """Return a new checkout that this charge has paid."""
    checkout = Checkout.objects.create(
        merchant=charge.merchant,
        livemode=False,
        amount=charge.amount,
        currency=charge.currency,
        order={"currency": charge.currency},
        expires_at=clock.now(),
        state="paid",
    )
    Charge.objects.filter(id=charge.id).update(checkout=checkout)
    return checkout


def put_up(merchant: Merchant) -> None:
    """Make a payment link and a payment request that was paid otherwise."""
    owner, items = {"merchant": merchant, "livemode": False}, [{"name": "Rice", "amount": 100, "quantity": 2}]
    order = {"currency": "PHP", "line_items": items}
    PaymentLink.objects.create(**owner, short="4fGk9ZpQ2x", order=order, stock=[2], remaining=[1])
    paid = {"amount": 200, "currency": "PHP", "order": order, "kind": "request", "state": "paid"}
    request = Checkout.objects.create(**owner, **paid, customer_id=new_id(), ended_at=clock.now())
    PaymentRequest.objects.create(**owner, checkout=request, series="4E3F2A1B", place=1)


@pytest.fixture
def stage() -> dict[str, Any]:
    """Return values that find a charge with refunds on a blocked card of a customer, its event, and keys in use."""
    charge = ChargeFactory(is_part_refunded=True)
    checkout = paid_by(charge)
    put_up(charge.merchant)
    RefundFactory(charge=charge, amount=1, status=Refund.Status.FAILED)
    block_card(lasts=timedelta(hours=1))
    key = ApiKey.objects.create(merchant=charge.merchant, livemode=False, kind="secret", digest=b"d" * 32, last4="0")
    IdempotencyRecord.objects.create(merchant=charge.merchant, livemode=False, key="once", fingerprint=b"f" * 32)
    payment = SimulatedPayment.objects.create(
        reference="r", amount=1, capture=True, state="captured", amount_captured=1
    )
    owner = {"merchant_id": charge.merchant_id, "livemode": False}
    event = Event.objects.create(**owner, type="charge.created", object_id=charge.id, sequence=1, payload=b"{}")
    asked = {"method": "GET", "path": "/v2/ping", "status": 200, "milliseconds": 1, "created_at": clock.now()}
    ApiRequest.objects.create(**owner, api_key=key, request_id=new_id(), **asked)
    dispute = {"amount": 1, "currency": "PHP", "reason": "general", "stage": 30, "money_stage": 30, "withdrawn": True}
    Dispute.objects.create(**owner, charge=charge, provider_ref="D1", status="needs_response", **dispute)
    make_payout(charge.merchant)
    WebhookEndpoint.objects.create(**owner, url="https://shop.example/", enabled_events=["*"])
    commit(lines(charge, ("provider_receivable", 1), ("merchant_pending", -1)))
    BinRange.objects.create(prefix="4242424242", brand="visa")
    customer = Customer.objects.create(**owner, email="maria@example.com", description="Maria")
    CustomerSource.objects.create(merchant=customer.merchant, customer=customer, source=charge.source)
    return owner | {
        "source_id": charge.source_id,
        "charge_id": charge.id,
        "checkout_id": checkout.id,
        "attempt_id": Attempt.objects.get().id,
        "route_id": None,
        "digest": bytes(key.digest),
        "key": "once",
        "address": "203.0.113.7",
        **dict(zip(PAYER, (bytes(charge.source.card.fingerprint), charge.source.card.bin, "", ""), strict=True)),
        "now": clock.now(),
        "after": new_id(),
        "length": 2,
        **{"below": LAST_ID, "above": FIRST_ID, "pairs": EVERY_PAIR},
        "later_than": charge.created_at - timedelta(seconds=1),
        "before": clock.now(),
        "currency": "PHP",
        "kind": event.type,
        "status": "needs_response",
        **{"active": True, "any_status": None, "place": 1},
        "object_id": charge.id,
        "email": customer.email,
        "reference": payment.reference,
        **{"shown": "42424242", "first_4": "4242", "first_7": "4242424"},
    }


def facts(value: Any, seen: frozenset[int] = frozenset()) -> Any:
    """Return all loaded values of a row, with its joined and prefetched rows."""
    if isinstance(value, list):
        return [facts(row, seen) for row in value]
    if not isinstance(value, Model) or id(value) in seen:
        return value
    seen |= {id(value)}
    state, hidden = value._state, ("_state", "_prefetched_objects_cache")
    own = {name: facts(member, seen) for name, member in vars(value).items() if name not in hidden}
    joined = {name: facts(row, seen) for name, row in state.fields_cache.items()}
    return type(value), own, joined, state.adding, state.db


def given(name: str, stage: dict[str, Any]) -> tuple[CompiledQuery[Any, Any], dict[str, Any]]:
    query, names = READS[name]
    if name in FINDERS:
        _, model, column = FINDERS[name]
        rows: Any = model._default_manager.filter(**{one: stage[one] for one in IN_MODE}).order_by("-pk")
        return query, {one: stage[one] for one in IN_MODE} | {"object_id": rows.values_list(column, flat=True)[0]}
    values = {ARGUMENT.get(name, name): stage[name] for name in names if name != "no_start"}
    return query, values | ({"after": None} if "no_start" in names else {})


@pytest.mark.long
@pytest.mark.parametrize("name", READS)
def test_the_rows_are_those_of_the_orm(name: str, stage: dict[str, Any]) -> None:
    query, values = given(name, stage)
    shown = SHOWN.get(query)

    def look(rows: list[Any]) -> Any:
        return [shown.render(row) for row in rows] if shown else facts(rows)

    expected = look(list(query.build(**values)))
    assert len(expected) == 1
    assert [look(query(**values)), look(query(**values))] == [expected, expected]


@pytest.mark.long
@pytest.mark.parametrize("name", READS)
def test_all_of_them_come_by_one_statement(name: str, stage: dict[str, Any]) -> None:
    query, values = given(name, stage)
    with CaptureQueriesContext(connection) as compiled:
        query(**values)
    assert len(compiled) == 1


def test_every_query_that_is_compiled_once_is_looked_at_here() -> None:
    rooms = [module for name, module in sys.modules.items() if name.startswith(("payments.", "customers."))]
    held = [each for module in rooms for each in vars(module).values()]
    found = {each for each in held if isinstance(each, CompiledQuery)} | {
        query
        for each in held
        if isinstance(each, Listing | Finder)
        for query in vars(each).values()
        if isinstance(query, CompiledQuery)
    }
    assert found == {query for query, _ in READS.values()}
