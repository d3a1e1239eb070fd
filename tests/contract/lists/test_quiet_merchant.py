"""A merchant that went quiet is answered at once, however much the others sold since, and however deep the page."""

from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api, made
from tests.contract.lists.many_charges import sell
from tests.plans import scans_of

COUNT = 20_000
LIMIT = 20
# The rows of a page may lie on a page of the disk each; the rest is the way down through an index.
MOST_BUFFERS = LIMIT + 20
FIRST: dict[str, Any] = {"limit": LIMIT}
PAGES = [FIRST, FIRST | {"start_after": f"ch_{COUNT // 2:032x}"}, FIRST | {"start_after": f"ch_{LIMIT:032x}"}]


@pytest.fixture
def street(shop: NewMerchant, other_shop: NewMerchant) -> None:
    """Return the shop sold a lot once; since then only the other one did."""
    sell(shop.merchant, COUNT)
    sell(other_shop.merchant, COUNT, first=1_000_000)
    # For each table: statistics that other tests left must not decide how this one is read.
    _run("ANALYZE payments_charge, payments_source, payments_card, payments_refund")


def _run(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []


def scan_of_list(api: Api, page: dict[str, Any]) -> dict[str, Any]:
    """How PostgreSQL finds the IDs of a list: the part of the plan that orders them."""
    with CaptureQueriesContext(connection) as captured:
        made(api.get("/charges/", **page))
    [sql] = [
        one["sql"] for one in captured if one["sql"].count('FROM "payments_charge"') and " ORDER BY " in one["sql"]
    ]
    [scan] = [
        one for one in scans_of(sql) if one["Alias"].startswith("u0") and one["Relation Name"] == "payments_charge"
    ]
    return scan


@pytest.mark.long
def test_a_page_is_read_by_the_index_of_its_merchant(street: None, api: Api) -> None:
    scans = [scan_of_list(api, page) for page in PAGES]
    assert [scan["Index Name"] for scan in scans] == ["charge_of_merchant"] * len(PAGES)
    assert [scan["Actual Rows"] for scan in scans] == [LIMIT + 1, LIMIT + 1, LIMIT - 1]
    assert [scan.get("Rows Removed by Filter", 0) for scan in scans] == [0] * len(PAGES)


@pytest.mark.long
def test_a_deep_page_costs_no_more_than_the_first(street: None, api: Api) -> None:
    scans = [scan_of_list(api, page) for page in PAGES]
    assert max(scan["Shared Hit Blocks"] + scan["Shared Read Blocks"] for scan in scans) <= MOST_BUFFERS


@pytest.mark.long
def test_a_prepared_statement_reads_no_more_than_its_rows(street: None, api: Api) -> None:
    # What PostgreSQL goes over to by itself once a connection has asked often enough.
    _run("SET LOCAL plan_cache_mode = force_generic_plan")
    fetched = [rows_fetched()]
    for page in PAGES:
        made(api.get("/charges/", **page))
        fetched.append(rows_fetched())
    # Each row is met twice, by its ID and as a whole; one more row shows whether there is a next page, and a few
    # looks are at the charge to start after.
    assert max(after - before for before, after in pairwise(fetched)) <= 2 * (LIMIT + 1) + 4


def rows_fetched() -> int:
    """How many rows of charges this transaction has looked at so far."""
    [(count,)] = _run(
        "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'payments_charge'"
    )
    return count
