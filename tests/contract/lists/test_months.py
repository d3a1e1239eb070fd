"""A page of events is read from the newest month, and from older ones as far as it is not full."""

from collections.abc import Iterator
from datetime import date

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api, made
from tests.figures.webhooks.events import put_events
from tests.months import middle_of, months_behind
from tests.plans import scans_of

pytestmark = pytest.mark.long

URL = "http://127.0.0.1:2001/"
MONTHS = 16
COUNT = 500
LIMIT = 20
# Each row of a page is met by its ID and as a whole, and one more shows whether there is a next page.
MOST_ROWS = 2 * (LIMIT + 1)
FETCHED = """
SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) FROM pg_stat_xact_user_tables
WHERE relname LIKE 'payments_event_%'
"""


@pytest.fixture
def past(shop: NewMerchant, other_shop: NewMerchant) -> Iterator[list[date]]:
    """Months in which the shop sold, and at the end of each, after the statistics were made, only the other one did."""
    with months_behind(MONTHS) as behind:
        for merchant in (shop.merchant, other_shop.merchant):
            for month in behind:
                with clock.at(middle_of(month)):
                    put_events(merchant, URL, COUNT, middle_of(month))
        run("ANALYZE payments_event")
        with clock.at(middle_of(behind[-1])):
            put_events(other_shop.merchant, URL, COUNT, middle_of(behind[-1]))
        yield behind


def run(sql: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []


def rows_met(api: Api, **page: object) -> dict[str, float]:
    """How many rows of each month PostgreSQL looks at to find the IDs of a page."""
    with CaptureQueriesContext(connection) as captured:
        made(api.get("/events/", limit=LIMIT, **page))
    [sql] = [one["sql"] for one in captured if one["sql"].count('FROM "payments_event"') and " ORDER BY " in one["sql"]]
    found = [scan for scan in scans_of(sql) if scan["Alias"].startswith("u0")]
    met = {scan["Relation Name"]: scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0) for scan in found}
    return {part: count for part, count in met.items() if count}


def test_the_first_page_is_read_from_the_newest_month(api: Api, past: list[date]) -> None:
    assert rows_met(api) == {f"payments_event_{past[-1]:%Y_%m}": LIMIT + 1}


def test_a_page_at_the_end_of_a_month_continues_in_the_one_before(api: Api, past: list[date]) -> None:
    newest = made(api.get("/events/", limit=100))
    for _ in range(3):
        newest = made(api.get("/events/", limit=100, start_after=newest["data"][-1]["id"]))
    last = made(api.get("/events/", limit=90, start_after=newest["data"][-1]["id"]))["data"][-1]["id"]

    assert rows_met(api, start_after=last) == {
        f"payments_event_{past[-1]:%Y_%m}": COUNT - 490,
        f"payments_event_{past[-2]:%Y_%m}": LIMIT + 1 - (COUNT - 490),
    }


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_a_prepared_statement_reads_no_more_than_its_rows(api: Api, past: list[date], mode: str) -> None:
    run(f"SET LOCAL plan_cache_mode = {mode}")
    made(api.get("/events/", limit=LIMIT))
    [[before]] = run(FETCHED)
    made(api.get("/events/", limit=LIMIT))
    [[after]] = run(FETCHED)
    assert int(str(after)) - int(str(before)) <= MOST_ROWS
