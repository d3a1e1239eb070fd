"""Each table says whose it is, so that an engine can shard them by merchant."""

import pytest
from django.db import connection

from tests.sharding.tables import CELL, OWNER, REFERENCE, Kind, kinds, tables_of

pytestmark = pytest.mark.django_db

FOREIGN_KEYS = """
SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND conparentid = 0 AND connamespace = 'public'::regnamespace
"""
# Would be dropped: see the sharding guide.
BACK_TO_MERCHANTS = {
    ("payments_reconciliationitem", "payments_attempt"),
    ("payments_reconciliationitem", "payments_charge"),
}


def foreign_keys() -> set[tuple[Kind | None, Kind | None, str, str]]:
    known = kinds()
    with connection.cursor() as cursor:
        cursor.execute(FOREIGN_KEYS)
        return {(known[one], known[other], one, other) for one, other in cursor.fetchall()}


def test_each_table_is_of_merchants_or_a_reference_or_of_the_cell() -> None:
    undecided = [table for table, kind in kinds().items() if kind is None]
    assert undecided == [], f"give them a {OWNER} that is not null, or name them in tests/sharding/tables.py"


def test_no_table_is_named_that_does_not_exist() -> None:
    assert {*REFERENCE, *CELL} <= kinds().keys()
    assert not REFERENCE.keys() & CELL.keys()


def test_every_table_that_grows_with_charges_is_of_merchants() -> None:
    hot = ("source", "card", "charge", "attempt", "refund", "dispute", "evidence", "idempotencyrecord", "pagevisit")
    written = ("event", "webhook", "webhookattempt", "apirequest", "searchentry", "providermessage", "providerevent")
    money = ("posting", "runningbalance", "settlement", "settlementtotal", "payout", "payoutpart")
    grown = {f"payments_{name}" for name in (*hot, *written, *money)} | {
        "customers_customer",
        "customers_customersource",
    }
    assert grown <= set(tables_of(Kind.MERCHANTS))


def test_rows_of_merchants_refer_to_each_other_and_to_references() -> None:
    """An engine that shards checks no other foreign key."""
    assert {kind for owner, kind, *_ in foreign_keys() if owner is Kind.MERCHANTS} == {Kind.MERCHANTS, Kind.REFERENCE}


def test_references_refer_to_references() -> None:
    assert {kind for owner, kind, *_ in foreign_keys() if owner is Kind.REFERENCE} == {Kind.REFERENCE}


def test_of_the_cell_only_reconciliation_refers_to_rows_of_merchants() -> None:
    back = {(one, other) for *of, one, other in foreign_keys() if of == [Kind.CELL, Kind.MERCHANTS]}
    assert back == BACK_TO_MERCHANTS
