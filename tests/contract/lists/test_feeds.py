"""A client follows events and requests, and pages of events are read month by month from the newest."""

from collections.abc import Callable, Iterator
from datetime import date
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.api.views import feeds
from payments.concurrency.fair_queue import Slots
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.models import ApiRequest
from tests.client import Api, error_of, made
from tests.concurrency import in_background
from tests.contract.calls import faults_of, newest_event, newest_request
from tests.contract.lists.test_lists import ids_of
from tests.figures.webhooks.events import put_events
from tests.months import middle_of, months_behind
from tests.plans import scans_of

pytestmark = pytest.mark.long

PATIENCE_SECONDS = 30
ACTIVE_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'"
FEEDS: dict[str, Callable[[Api], str]] = {"events": newest_event, "requests": newest_request}
every_feed = pytest.mark.parametrize("name", FEEDS)


def active_sessions() -> int:
    with connection.cursor() as cursor:
        cursor.execute(ACTIVE_SESSIONS)
        return int(cursor.fetchone()[0])


def followed(api: Api, name: str, **query: object) -> list[str]:
    return ids_of(made(api.get(f"/{name}/", **query)))


@every_feed
def test_the_objects_after_a_cursor_come_next(api: Api, name: str) -> None:
    first, second, third = (FEEDS[name](api) for _ in range(3))
    assert wait_until(lambda: followed(api, name, ending_before=first, wait=5) == [third, second], PATIENCE_SECONDS)


@every_feed
def test_of_many_those_closest_to_the_cursor_come_first(api: Api, name: str) -> None:
    first, second, third, last = (FEEDS[name](api) for _ in range(4))
    assert wait_until(lambda: followed(api, name, ending_before=third) == [last], PATIENCE_SECONDS)
    assert followed(api, name, ending_before=first, limit=2, wait=5) == [third, second]


@every_feed
def test_without_anything_newer_the_page_is_empty_at_the_end_of_the_wait(api: Api, name: str) -> None:
    newest = FEEDS[name](api)
    assert made(api.get(f"/{name}/", ending_before=newest, wait=1)) == {"object": "list", "data": []}


@every_feed
def test_a_cursor_of_another_merchant_is_refused(api: Api, other_api: Api, name: str) -> None:
    theirs = FEEDS[name](other_api)
    assert faults_of(api.get(f"/{name}/", ending_before=theirs)) == {"ending_before": "invalid_choice"}


def test_a_cursor_of_the_other_mode_is_refused(api: Api, live_api: Api) -> None:
    theirs = newest_request(live_api)
    assert faults_of(api.get("/requests/", ending_before=theirs)) == {"ending_before": "invalid_choice"}


@every_feed
def test_newer_objects_of_another_merchant_are_not_shown(api: Api, other_api: Api, name: str) -> None:
    newest = FEEDS[name](api)
    FEEDS[name](other_api)
    assert followed(api, name, ending_before=newest, wait=2) == []


@every_feed
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"wait": "0"}, "wait"),
        ({"wait": "31"}, "wait"),
        ({"wait": "x"}, "wait"),
        ({"ending_before": "x"}, "ending_before"),
    ],
)
def test_a_bad_cursor_or_wait_is_refused(api: Api, name: str, query: dict[str, str], param: str) -> None:
    assert faults_of(api.get(f"/{name}/", **query)).keys() == {param}


@every_feed
def test_two_cursors_at_once_are_refused(api: Api, name: str) -> None:
    newest = FEEDS[name](api)
    faults = faults_of(api.get(f"/{name}/", start_after=newest, ending_before=newest))
    assert faults == {"ending_before": "not_together"}


def test_events_of_one_object_are_not_followed(api: Api) -> None:
    charge = api.charge()
    assert faults_of(api.get("/events/", object=charge["id"], wait=1)) == {"wait": "not_together"}


def test_events_of_one_type_are_followed(api: Api) -> None:
    start = newest_event(api)
    api.charge()
    found = made(api.get("/events/", ending_before=start, type="charge.succeeded", wait=5))["data"]
    assert [event["type"] for event in found] == ["charge.succeeded"]


@pytest.mark.django_db(transaction=True)
def test_a_waiting_request_is_answered_when_an_event_comes(api: Api, shop: NewMerchant) -> None:
    start = newest_event(api)
    with in_background(lambda: followed(api, "events", ending_before=start, wait=30)) as answer:
        assert wait_until(lambda: feeds._waiting.taken, PATIENCE_SECONDS)
        api.wallet()
    assert len(answer.result()) == 1


@pytest.mark.django_db(transaction=True)
def test_an_account_without_events_waits_for_its_first(api: Api) -> None:
    with in_background(lambda: followed(api, "events", wait=30)) as answer:
        assert wait_until(lambda: feeds._waiting.taken, PATIENCE_SECONDS)
        api.wallet()
    assert len(answer.result()) == 1


@pytest.mark.django_db(transaction=True)
def test_an_event_committed_late_is_not_overtaken_by_later_ones(api: Api) -> None:
    start, written, committed = newest_event(api), Barrier(2), Barrier(2)

    def write_late() -> str:
        with transaction.atomic():
            event = newest_event(api)
            written.wait(30)
            committed.wait(30)
        return event

    with in_background(write_late) as late:
        written.wait(30)
        overtaking = newest_event(api)
        assert followed(api, "events", ending_before=start, wait=3) == []
        committed.wait(30)
    assert followed(api, "events", ending_before=start, wait=30) == [overtaking, late.result()]


@pytest.fixture
def few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one request of a merchant wait, and three in all."""
    monkeypatch.setattr(feeds, "_waiting", Slots(1, 3))


@pytest.mark.django_db(transaction=True)
def test_more_waiting_requests_than_a_merchants_share_are_refused(api: Api, other_api: Api, few_places: None) -> None:
    start, others = newest_event(api), newest_event(other_api)
    with in_background(lambda: followed(api, "events", ending_before=start, wait=30)) as answer:
        assert wait_until(lambda: feeds._waiting.taken, PATIENCE_SECONDS)
        refused = api.get("/events/", ending_before=start, wait=30)
        assert other_api.get("/events/", ending_before=others, wait=1).status_code == 200
        api.wallet()
    assert (refused.status_code, error_of(refused)["code"], refused["Retry-After"]) == (429, "rate_limited", "5")
    assert len(answer.result()) == 1


@pytest.mark.django_db(transaction=True)
def test_a_waiting_request_holds_no_connection(api: Api) -> None:
    start = newest_event(api)
    with in_background(lambda: followed(api, "events", ending_before=start, wait=30)):
        assert wait_until(lambda: feeds._waiting.taken and active_sessions() == 1, PATIENCE_SECONDS)
        api.wallet()


def test_the_log_shows_a_request_once_by_its_id(api: Api) -> None:
    name = newest_request(api)
    assert made(api.get(f"/requests/{name}"))["path"] == "/v2/ping"
    assert ApiRequest.objects.count() == 1


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
