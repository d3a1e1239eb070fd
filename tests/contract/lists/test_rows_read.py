"""What a call reads is bounded, however many rows there are and whatever it filters: counted by PostgreSQL itself.

A call looks at 20 rows of a table at most. A page of a list looks besides at twice as many rows as it answers, and one
more. By any filter, or two of them, it reads at most 7 index entries and rows for each row that it answers: as many as
a charge has states. What is made within the same millisecond as a bound of `created_at` comes on top.

Where an index is missing, or serves only a part of what is asked, a call reads thousands of the rows that are there.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse

from customers.api.serializers import CustomerListQuery
from customers.models import Customer
from payments.api.checkout.links import LinkListQuery
from payments.api.validation.fields import Currency, Email, OneOf
from payments.api.validation.money_queries import PayoutListQuery, TransactionListQuery
from payments.api.validation.payment_requests import RequestListQuery
from payments.api.validation.query_fields import (
    ChargeListQuery,
    DisputeListQuery,
    EventListQuery,
    FeedQuery,
    PageQuery,
    QueryBoolean,
    QueryId,
    QueryMoment,
    QueryObject,
)
from payments.clock import iso
from payments.ids import public_id
from payments.models import Charge, Checkout, Dispute, PaymentLink, Payout, PayoutAccount, PayoutPart, Posting, Refund
from tests.client import Api, made
from tests.contract.calls import CALLS, nobodys, order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# A row may be looked at for itself, by what points to it, and by each of the rows that it must agree with.
MOST_OF_A_TABLE = 20
# It reads the session, captures its charge, and reads the session again.
CALLS_IN_ONE = {"capture a session": 3}
# Each row of a page is met by its ID and as a whole, and one more shows whether there is a next page.
MOST_OF_A_LISTS_TABLE = MOST_OF_A_TABLE + 2 * (20 + 1)
# To move all is to read all.
READ_ALL = {"let time pass"}
READ = """
SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
"""


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
    most = MOST_OF_A_LISTS_TABLE if name.startswith("list ") else MOST_OF_A_TABLE * CALLS_IN_ONE.get(name, 1)
    return {table: count for table, count in read.items() if count > most}


def repeated(api: Api) -> HttpResponse:
    """Return a charge that is asked for again under its key."""
    body = order(api.source())
    made(api.post("/charges/", body, "once"))
    return api.post("/charges/", body, "once")


def asked(name: str, api: Api) -> Callable[[], HttpResponse]:
    """Return the call of this name, ready to be made."""
    path, body = CALLS[name].prepare(api)
    return lambda: CALLS[name].make(api, path, body)


# Each row of a page is looked for among the charges of 7 states.
MOST_BY_A_FILTER = 7 * (20 + 1) + MOST_OF_A_LISTS_TABLE
INDEX_ENTRIES = "SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes"
LISTS = {
    "charges": ChargeListQuery,
    "customers": CustomerListQuery,
    "disputes": DisputeListQuery,
    "events": EventListQuery,
    "payouts": PayoutListQuery,
    "balance_transactions": TransactionListQuery,
    "payment_links": LinkListQuery,
    "payment_requests": RequestListQuery,
}


def values_of(name: str, field: Any, api: Api) -> list[str]:
    """Every value of a filter that has few, and of others one that is there and one that is not."""
    if isinstance(field, OneOf):
        return list(field.choices)
    if isinstance(field, QueryBoolean):
        return ["true", "false"]
    if isinstance(field, QueryId | QueryObject):
        return ids_of(field, api)
    if isinstance(field, QueryMoment):
        newest = Charge.objects.latest("id").created_at
        return [iso(newest - timedelta(seconds=seconds)) for seconds in (0, 500, 10**7)]
    if isinstance(field, Currency):
        return ["PHP", "USD", "JPY"]
    if isinstance(field, Email):
        return [Customer.objects.latest("id").email, "nobody@shop.example"]
    raise AssertionError(f"What is to be asked of the filter {name}?")


def ids_of(field: QueryId | QueryObject, api: Api) -> list[str]:
    kinds = [field.prefix] if isinstance(field, QueryId) else list(field.kinds)
    busiest = Charge.objects.exclude(customer_id=None).latest("id")
    there = {
        "cus": busiest.customer_id,
        "src": busiest.source_id,
        "ch": busiest.id,
        "re": Refund.objects.latest("id").id,
        "dp": Dispute.objects.latest("id").id,
        "po": Payout.objects.latest("id").id,
        "mer": busiest.merchant_id,
        "ba": PayoutAccount.objects.latest("id").id,
        "cs": Checkout.objects.filter(kind=Checkout.Kind.SESSION).latest("id").id,
        "pr": Checkout.objects.filter(kind=Checkout.Kind.REQUEST).latest("id").id,
        "plink": PaymentLink.objects.latest("id").id,
    }
    return [identity for kind in kinds for identity in (public_id(kind, there[kind]), nobodys(kind))]


def queries(query: type[PageQuery], api: Api) -> Iterator[dict[str, str]]:
    """Each value of each filter of a list, alone and with each of another filter."""
    filters = {name: field for name, field in query().fields.items() if name not in FeedQuery().fields}
    each = [(name, value) for name, field in filters.items() for value in values_of(name, field, api)]
    yield from ({name: value} for name, value in each)
    yield from (dict(pair) for pair in combinations(each, 2) if pair[0][0] != pair[1][0])


def entries_read_so_far() -> Counter[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(INDEX_ENTRIES)
        return Counter(dict(cursor.fetchall()))


# A plan for all values foresees no rare address, so customers are left to plans with the values.
GENERIC = ("charges", "disputes", "events", "payouts", "balance_transactions", "payment_links", "payment_requests")


@pytest.mark.parametrize(
    ("name", "plans"),
    [*((name, "force_custom_plan") for name in LISTS), *((name, "force_generic_plan") for name in GENERIC)],
)
def test_no_filter_reads_more_than_its_page(crowded: Api, name: str, plans: str) -> None:
    """PostgreSQL may plan a prepared statement with its values, or once for all values."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET plan_cache_mode = {plans}")
    found = {}
    for query in queries(LISTS[name], crowded):
        rows, entries = rows_read_so_far(), entries_read_so_far()
        answer = crowded.get(f"/{name}/", **query)
        assert answer.status_code in (200, 422), answer.content
        read = (rows_read_so_far() - rows) + (entries_read_so_far() - entries)
        too_many = {name: count for name, count in read.items() if count > MOST_BY_A_FILTER}
        if too_many:
            found[str(query)] = too_many
    with connection.cursor() as cursor:
        cursor.execute("RESET plan_cache_mode")
    assert found == {}


@pytest.mark.parametrize("plans", ["force_custom_plan", "force_generic_plan"])
def test_a_page_of_what_a_payout_is_made_of_reads_no_more_than_its_rows(crowded: Api, plans: str) -> None:
    payout = PayoutPart.objects.filter(payout__isnull=False)[0].payout_id
    path = f"/payouts/{public_id('po', payout)}/transactions"
    parts = PayoutPart.objects.filter(payout=payout, is_settlement=False).order_by("-id")
    settled_ones = Posting.objects.filter(settlement__isnull=False, account="merchant_payable", currency="PHP")
    newest, oldest = (rows.values_list("id", flat=True) for rows in (parts, settled_ones.order_by("id")))
    starts = [None, newest[0], newest[500], newest[900], oldest[500], oldest[20]]
    with connection.cursor() as cursor:
        cursor.execute(f"SET plan_cache_mode = {plans}")
    found = {}
    for start in starts:
        query = {"start_after": public_id("txn", start)} if start else {}
        rows, entries = rows_read_so_far(), entries_read_so_far()
        assert len(made(crowded.get(path, **query))["data"]) == 20
        read = (rows_read_so_far() - rows) + (entries_read_so_far() - entries)
        found |= {f"{start} {name}": count for name, count in read.items() if count > MOST_BY_A_FILTER}
    with connection.cursor() as cursor:
        cursor.execute("RESET plan_cache_mode")
    assert found == {}


# It changes what the others read.
def test_no_call_reads_more_than_it_answers_or_changes(crowded: Api) -> None:
    found = {name: too_much(name, rows_read(asked(name, crowded))) for name in sorted(CALLS.keys() - READ_ALL)}
    found["repeat"] = too_much("repeat", rows_read(lambda: repeated(crowded)))
    assert {name: tables for name, tables in found.items() if tables} == {}
