"""No call reads more rows than it answers or changes, however many there are: counted by PostgreSQL itself.

Where an index is missing, or serves only a part of what is asked, a call reads thousands of the rows that are there.
"""

from collections import Counter
from collections.abc import Callable

import pytest
from django.db import connection
from django.http import HttpResponse

from config.benchmark.copies import Table, multiply
from customers.models import Customer, CustomerSource
from payments.models import (
    Attempt,
    Card,
    Charge,
    Event,
    IdempotencyRecord,
    Notification,
    Posting,
    Refund,
    Source,
)
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment
from tests.client import CHALLENGED, DECLINED, Api, made
from tests.contract.calls import CALLS, order, vaulted
from tests.notifications.test_outbox import NOTIFIED

pytestmark = pytest.mark.django_db(transaction=True)

COPIES = 1000
# A row may be looked at for itself, by what points to it, and by each of the rows that it must agree with.
MOST_OF_A_TABLE = 20
# Each row of a page is met by its ID and as a whole, and one more tells whether there is a next page.
MOST_OF_A_LISTS_TABLE = MOST_OF_A_TABLE + 2 * (20 + 1)
# To move all is to read all.
READ_ALL = {"let time pass"}
READ = """
SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
"""
# That of a copied attempt.
MOVED_REFERENCE = "replace(pg_temp.moved(reference::uuid, number)::text, '-', '')"
TABLES = (
    Table(IdempotencyRecord, placed={"key": "key || '-' || number"}),
    Table(Source),
    Table(Card, ("id", "source_id"), {"fingerprint": "sha256(fingerprint || number::text::bytea)"}),
    Table(Customer, placed={"email": "number || email"}),
    Table(Charge, ("id", "source_id")),
    Table(Attempt, ("id", "charge_id", "idempotency_id", "refund_id")),
    Table(Event, ("id", "object_id")),
    Table(Posting, ("id", "journal", "charge_id", "attempt_id")),
    Table(Notification, ("id", "event_id"), {"state": "'delivered'", "due_at": "NULL", "leased_until": "NULL"}),
    Table(
        SimulatedPayment,
        placed={"reference": MOVED_REFERENCE, "token_digest": "sha256(token_digest || number::text::bytea)"},
    ),
    Table(SimulatedOperation, ("id", "payment_id"), {"reference": MOVED_REFERENCE}),
)
# To read a small one as a whole is cheaper than to look for each row of a page.
FURTHER_COPIES = 10_000
FURTHER_TABLES = (Table(CustomerSource, ("id", "customer_id", "source_id")), Table(Refund, ("id", "charge_id")))


@pytest.fixture
def crowded(api: Api) -> Api:
    """The API of a merchant that has some of everything, thousands of times."""
    for source in (vaulted(api), api.source(DECLINED), api.source(CHALLENGED), api.source(redirect=NOTIFIED)):
        made(api.post("/charges/", order(source), f"charge-{source}"))
    for charge in (api.held(), api.charge()):
        made(api.post(f"/charges/{charge['id']}/{'void' if charge['authorized'] else 'refund'}", None, charge["id"]))
    multiply(COPIES, TABLES)
    multiply(FURTHER_COPIES, FURTHER_TABLES)
    return api


def rows_read(ask: Callable[[], HttpResponse]) -> Counter[str]:
    """How many rows of each table a request has PostgreSQL look at."""
    before = rows_read_so_far()
    response = ask()
    assert response.status_code < 300, response.content
    return rows_read_so_far() - before


def rows_read_so_far() -> Counter[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(READ)
        return Counter(dict(cursor.fetchall()))


def too_much(name: str, read: Counter[str]) -> dict[str, int]:
    """Of which tables the call of this name read more rows than it may, and how many."""
    most = MOST_OF_A_LISTS_TABLE if name.startswith("list ") else MOST_OF_A_TABLE
    return {table: count for table, count in read.items() if count > most}


def repeated(api: Api) -> HttpResponse:
    """A charge that is asked for again under its key."""
    body = order(api.source())
    made(api.post("/charges/", body, "once"))
    return api.post("/charges/", body, "once")


def asked(name: str, api: Api) -> Callable[[], HttpResponse]:
    """The call of this name, ready to be made."""
    path, body = CALLS[name].prepare(api)
    return lambda: CALLS[name].make(api, path, body)


def test_no_call_reads_more_than_it_answers_or_changes(crowded: Api) -> None:
    found = {name: too_much(name, rows_read(asked(name, crowded))) for name in CALLS.keys() - READ_ALL}
    found["repeat"] = too_much("repeat", rows_read(lambda: repeated(crowded)))
    assert {name: tables for name, tables in found.items() if tables} == {}
