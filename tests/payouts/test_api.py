"""Payouts as the API shows them, and what each is made of."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, states
from payments.ids import moment_of, public_id
from payments.models import Merchant, Payout, PayoutPart, PayoutSchedule, Posting
from tests.client import REFUNDS_WAIT, Api, error_of, made
from tests.contract.calls import faults_of, nobodys
from tests.contract.shapes import PAYOUT, TRANSACTION, faults_in
from tests.ledger.books import settle
from tests.payouts.readings import all_pages
from tests.payouts.stories import bank_acts, days_pass, give_account, give_schedule, paid_out, settled

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fees")]

NET = 10_000 - 365


@pytest.fixture
def schedule(shop: NewMerchant) -> PayoutSchedule:
    give_account(shop.merchant)
    return give_schedule(shop.merchant)


def pay(api: Api, schedule: PayoutSchedule, amount: int = 10_000) -> Payout:
    """Return a payout of a new charge."""
    settled(api, amount)
    return make.make_now(schedule.id)


def read(api: Api, payout: Payout) -> dict[str, Any]:
    return made(api.get(f"/payouts/{public_id('po', payout.id)}"))


def parts(api: Api, payout: Payout, **query: Any) -> dict[str, Any]:
    return made(api.get(f"/payouts/{public_id('po', payout.id)}/transactions", **query))


@contextmanager
def days_later(days: int) -> Iterator[None]:
    """Let the clock be some days ahead, so that what settles does so in another settlement."""
    with clock.at(clock.now() + timedelta(days=days)):
        yield


def test_a_payout_is_shown_with_its_bank_account_but_not_the_number(api: Api, schedule: PayoutSchedule) -> None:
    payout = pay(api, schedule)
    shown = read(api, payout)
    assert faults_in(shown, PAYOUT) == []
    assert (shown["amount"], shown["currency"], shown["status"]) == (NET, "PHP", "pending")
    assert shown["bank_account"] == {"holder": "Sari Store", "last4": "6789", "bic": "BNORPHMM", "country": "PH"}


def test_a_returned_payout_says_why(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant, "1230003")
    settled(api)
    payout = paid_out(give_schedule(shop.merchant))
    shown = read(api, payout)
    assert (shown["status"], shown["failure_code"]) == ("failed", "returned")
    assert faults_in(shown, PAYOUT) == []


def test_payouts_are_listed_newest_first(api: Api, schedule: PayoutSchedule) -> None:
    made_ones = [public_id("po", pay(api, schedule).id) for _ in range(3)]
    page = made(api.get("/payouts/", limit=2))
    assert [row["id"] for row in page["data"]] == made_ones[:0:-1]
    assert page["next"] == f"/v2/payouts/?start_after={made_ones[1]}&limit=2"
    assert [row["id"] for row in made(api.get(page["next"].removeprefix("/v2")))["data"]] == made_ones[:1]


def test_payouts_are_found_by_status_and_currency(api: Api, schedule: PayoutSchedule, shop: NewMerchant) -> None:
    cancelled, pending = pay(api, schedule), pay(api, schedule)
    states.cancel(cancelled)
    settled(api, currency="USD")
    give_account(shop.merchant, currency="USD")
    dollars = make.make_now(give_schedule(shop.merchant, currency="USD").id)

    def found(**query: Any) -> list[str]:
        return [row["id"] for row in made(api.get("/payouts/", **query))["data"]]

    ids = [public_id("po", payout.id) for payout in (cancelled, pending, dollars)]
    assert found(status="cancelled") == ids[:1]
    assert found(currency="PHP") == [ids[1], ids[0]]
    assert found(currency="usd", status="pending") == ids[2:]
    assert found(status="paid") == found(currency="JPY") == []


def test_a_payout_has_an_id_of_its_own_millisecond(api: Api, schedule: PayoutSchedule) -> None:
    payout = pay(api, schedule)
    assert timedelta(0) <= payout.created_at - moment_of(payout.id) < timedelta(milliseconds=1)


def test_payouts_are_found_by_their_time(api: Api, schedule: PayoutSchedule) -> None:
    older, newer = pay(api, schedule), pay(api, schedule)
    moment = read(api, newer)["created_at"]
    for query, payout in (({"created_at[gte]": moment}, newer), ({"created_at[lt]": moment}, older)):
        [row] = made(api.get("/payouts/", **query))["data"]
        assert row["id"] == public_id("po", payout.id)


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"status": "lost"}, "status"),
        ({"currency": "XXX"}, "currency"),
        ({"created_at[gte]": "2099-01-01"}, "created_at[gte]"),
        ({"created_at[lt]": "1970-01-01"}, "created_at[lt]"),
        ({"start_after": "po_" + "0" * 32}, "start_after"),
        ({"state": "paid"}, "state"),
    ],
)
def test_a_filter_of_payouts_that_matches_nothing_is_refused(api: Api, query: dict[str, str], param: str) -> None:
    assert faults_of(api.get("/payouts/", **query)).keys() == {param}


@pytest.mark.parametrize("asker", ["other_api", "live_api"])
def test_nobody_sees_a_payout_of_another_merchant_or_mode(
    request: pytest.FixtureRequest, api: Api, schedule: PayoutSchedule, asker: str
) -> None:
    payout = pay(api, schedule)
    other: Api = request.getfixturevalue(asker)
    unknown = error_of(other.get(f"/payouts/{nobodys('po')}"))
    for path in ("", "/transactions"):
        answer = other.get(f"/payouts/{public_id('po', payout.id)}{path}")
        assert answer.status_code == 404
        assert error_of(answer)["message"] == unknown["message"]
    assert made(other.get("/payouts/"))["data"] == []


def test_a_payouts_events_are_found_by_its_id(api: Api, schedule: PayoutSchedule) -> None:
    payout = pay(api, schedule)
    bank_acts()
    events = made(api.get("/events/", object=public_id("po", payout.id)))["data"]
    assert [event["type"] for event in events] == ["payout.paid", "payout.updated", "payout.created"]
    assert faults_in(events[0]["data"]["object"], PAYOUT) == []
    assert events[0]["data"]["object"] == read(api, payout)


def test_a_payout_is_made_of_what_was_settled_and_of_refunds(api: Api, schedule: PayoutSchedule) -> None:
    charge = settled(api)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    rows = parts(api, make.make_now(schedule.id))["data"]
    assert [faults_in(row, TRANSACTION) for row in rows] == [[], []]
    assert [(row["type"], row["amount"], row["charge"]) for row in rows] == [
        ("refund", -4_000, charge["id"]),
        ("settle", NET, charge["id"]),
    ]
    assert {row["balance"] for row in rows} == {"available"}


@pytest.mark.long
def test_what_a_payout_is_made_of_adds_up_to_amount_and_reserve_over_any_pages(
    api: Api, schedule: PayoutSchedule
) -> None:
    PayoutSchedule.objects.update(reserve_percent=10, reserve_days=30)
    for day in range(3):
        with days_later(day):
            charges = [settled(api, 1_000 + day) for _ in range(4)]
            for charge in charges[:2]:
                made(api.post(f"/charges/{charge['id']}/refund", {"amount": 100}))
    days_pass(3)
    payout = make.make_now(schedule.id)
    path = f"/payouts/{public_id('po', payout.id)}/transactions"
    assert PayoutPart.objects.filter(payout=payout, is_settlement=True).count() == 3
    whole = all_pages(api, path, limit=100)
    assert len(whole) == 3 * 6
    assert sum(row["amount"] for row in whole) == payout.amount + payout.reserve
    for limit in (1, 2, 5):
        assert all_pages(api, path, limit=limit) == whole


def test_a_settlement_that_owes_the_merchant_nothing_is_passed_over(api: Api, schedule: PayoutSchedule) -> None:
    older = settled(api)
    Merchant.objects.update(rates={})
    with days_later(1):
        # The provider owes its money until the payer has it.
        charge = api.charge(REFUNDS_WAIT)
        made(api.post(f"/charges/{charge['id']}/refund"))
        settle()
    days_pass(2)
    payout = make.make_now(schedule.id)
    assert PayoutPart.objects.filter(payout=payout, amount=0).exists()
    [row] = parts(api, payout)["data"]
    assert (row["charge"], row["amount"]) == (older["id"], NET)


def test_a_failed_payout_is_still_made_of_the_same(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant, "1230002")
    settled(api)
    payout = paid_out(give_schedule(shop.merchant))
    assert (payout.status, [row["amount"] for row in parts(api, payout)["data"]]) == ("failed", [NET])


def test_only_what_it_is_made_of_can_begin_its_page(api: Api, schedule: PayoutSchedule) -> None:
    first, second = pay(api, schedule), pay(api, schedule)
    [of_first] = parts(api, first)["data"]
    [pending] = Posting.objects.filter(kind="settle", account="merchant_pending").order_by("-id")[:1]
    path = f"/payouts/{public_id('po', second.id)}/transactions"
    for start_after in (of_first["id"], public_id("txn", pending.id), nobodys("txn"), "txn_1"):
        assert faults_of(api.get(path, start_after=start_after)).keys() == {"start_after"}


def test_a_reserve_is_shown_with_its_end_and_in_the_balance(api: Api, schedule: PayoutSchedule) -> None:
    PayoutSchedule.objects.update(reserve_percent=10, reserve_days=30)
    payout = pay(api, schedule)
    shown = read(api, payout)
    assert (shown["reserve"], "reserve_release_at" in shown) == (963, True)
    assert made(api.get("/balance"))["reserved"] == [{"amount": 963, "currency": "PHP"}]
    states.release_reserve(Payout.objects.select_related("account").get(id=payout.id))
    assert "reserve_release_at" not in read(api, payout)
    assert made(api.get("/balance"))["reserved"] == [{"amount": 0, "currency": "PHP"}]
