"""/v2 with a replica that is far behind: what decides about money, and what a merchant has just done, is right."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from payments import clock
from tests.client import Api, made
from tests.replica.conftest import Counts, catch_up
from tests.standbys import Standby

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def paused(replica: Standby, api: Api) -> Iterator[Standby]:
    """Yield a replica that has the merchant and nothing that follows."""
    catch_up()
    replica.pause()
    yield replica
    replica.resume()


def test_charges_refunds_balances_and_objects_are_right_and_the_replica_is_not_asked(paused: Standby, api: Api) -> None:
    counts = Counts()
    order = {"amount": 10_000, "source": api.source(), "description": "Halo-halo"}
    charge = made(api.post("/charges/", order, key="once"))
    assert api.post("/charges/", order, key="once")["Idempotent-Replayed"] == "true"
    assert api.read(charge)["status"] == "succeeded"
    before = api.get("/balance/").json()
    refunded = made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    assert refunded["amount_refunded"] == 4_000
    assert api.post(f"/charges/{charge['id']}/refund", {"amount": 7_000}).status_code == 409
    assert api.read(charge)["amount_refunded"] == 4_000
    assert api.get("/balance/").json() != before
    for path in ("/charges/", "/customers/", "/events/", "/payouts/", "/disputes/", "/balance_transactions/"):
        listed = made(api.get(path))["data"]
        assert listed or path not in ("/charges/", "/events/", "/balance_transactions/"), path
    assert made(api.get("/charges/"))["data"][0]["amount_refunded"] == 4_000
    assert (counts.answered, counts.behind, counts.failed) == (0, 0, 0)


def pages(api: Api, path: str, limit: int) -> tuple[list[Any], int]:
    """Return all objects of a list, page by page, and how many pages follow the first."""
    data: list[Any] = []
    page, count = made(api.get(path, limit=limit)), 0
    while True:
        data += page["data"]
        if "next" not in page:
            return data, count
        page, count = made(api.get(page["next"].removeprefix("/v2"))), count + 1


@pytest.mark.parametrize("path", ["/events/", "/balance_transactions/"])
def test_pages_of_what_was_committed_long_ago_come_from_the_replica_and_are_the_same(
    replica: Standby, api: Api, path: str
) -> None:
    with clock.at(datetime.now(UTC) - timedelta(hours=1)):
        for _ in range(3):
            api.charge()
    catch_up()
    whole, _ = pages(api, path, 100)
    counts = Counts()
    found, followed = pages(api, path, 1)
    assert found == whole
    assert followed > 1
    assert (counts.answered, counts.failed) == (followed, 0)


def test_a_page_after_what_is_new_comes_from_the_primary(replica: Standby, api: Api) -> None:
    for _ in range(2):
        api.charge()
    catch_up()
    counts = Counts()
    _, followed = pages(api, "/events/", 2)
    assert followed
    assert counts.answered == 0


def test_what_comes_next_is_read_from_the_primary(paused: Standby, api: Api) -> None:
    with clock.at(datetime.now(UTC) - timedelta(hours=1)):
        api.charge()
    counts = Counts()
    last = made(api.get("/events/"))["data"][-1]["id"]
    assert made(api.get("/events/", ending_before=last))["data"]
    assert counts.answered == 0
