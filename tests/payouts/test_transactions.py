"""The transactions of a balance: each movement of it, and together the balance itself."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from payments.clock import iso
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, states
from payments.ids import public_id
from payments.models import Payout, PayoutSchedule, Posting
from payments.rendering.objects.payouts import KINDS
from tests.charging.elapsed_time import settle_refunds
from tests.client import REFUNDS_FAIL, Api, error_of, made
from tests.contract.calls import faults_of, nobodys
from tests.contract.shapes import TRANSACTION, faults_in
from tests.invariants.history import History
from tests.ledger.books import settle
from tests.payouts.readings import all_pages, balance, summed
from tests.payouts.stories import bank_acts, give_account, give_schedule, settled

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fees")]

PATH = "/balance_transactions/"
FEE = 365
NET = 10_000 - FEE


@pytest.fixture
def schedule(shop: NewMerchant) -> PayoutSchedule:
    give_account(shop.merchant)
    return give_schedule(shop.merchant, reserve_percent=10, reserve_days=30)


def lines(rows: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """Return type, balance and amount of transactions, oldest first."""
    return [(row["type"], row["balance"], row["amount"]) for row in reversed(rows)]


def listed(api: Api, **query: Any) -> list[dict[str, Any]]:
    return made(api.get(PATH, **query))["data"]


def test_a_charge_is_pending_then_available_less_its_fee(api: Api) -> None:
    charge = settled(api)
    rows = listed(api)
    assert [faults_in(row, TRANSACTION) for row in rows] == [[]] * 4
    assert lines(rows) == [
        ("capture", "pending", 10_000),
        ("fee", "pending", -FEE),
        ("settle", "available", NET),
        ("settle", "pending", -NET),
    ]
    assert {row["charge"] for row in rows} == {charge["id"]}


def test_a_hold_is_no_transaction(api: Api) -> None:
    held = api.held()
    assert listed(api) == []
    made(api.post(f"/charges/{held['id']}/capture"))
    assert [row["type"] for row in listed(api)] == ["fee", "capture"]


def test_a_failed_refund_gives_its_amount_back(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    settle_refunds()
    assert lines(listed(api))[2:] == [("refund", "pending", -4_000), ("refund_failed", "pending", 4_000)]


def test_a_payout_leaves_and_its_reserve_is_kept_and_comes_back(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    payout = make.make_now(schedule.id)
    states.release_reserve(Payout.objects.select_related("account").get())
    rows = listed(api, payout=public_id("po", payout.id))
    assert lines(rows) == [
        ("payout", "available", 963 - NET),
        ("reserve", "available", -963),
        ("reserve", "reserved", 963),
        ("reserve_release", "reserved", -963),
        ("reserve_release", "available", 963),
    ]
    assert {row["payout"] for row in rows} == {public_id("po", payout.id)}
    assert [faults_in(row, TRANSACTION) for row in rows] == [[]] * 5


def test_a_returned_payout_comes_back(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant, "1230003")
    settled(api)
    payout = make.make_now(give_schedule(shop.merchant).id)
    bank_acts()
    rows = listed(api, payout=public_id("po", payout.id))
    assert lines(rows) == [("payout", "available", -NET), ("payout_failed", "available", NET)]
    assert balance(api) == {("available", "PHP"): NET}


def test_one_transaction_is_read_by_its_id(api: Api) -> None:
    api.charge()
    for row in listed(api):
        assert made(api.get(f"{PATH}{row['id']}")) == row


def test_a_line_of_another_account_of_the_ledger_is_no_transaction(api: Api) -> None:
    api.charge()
    for posting in Posting.objects.exclude(account="merchant_pending"):
        name = public_id("txn", posting.id)
        assert api.get(f"{PATH}{name}").status_code == 404
        assert faults_of(api.get(PATH, start_after=name)).keys() == {"start_after"}


def test_transactions_are_found_by_balance_currency_and_charge(api: Api) -> None:
    first = settled(api)
    dollars = api.charge(currency="USD")
    assert lines(listed(api, balance="available")) == [("settle", "available", NET)]
    assert {row["charge"] for row in listed(api, currency="USD")} == {dollars["id"]}
    assert lines(listed(api, currency="usd", balance="pending")) == [("capture", "pending", 10_000)]
    assert len(listed(api, charge=first["id"])) == 4
    assert lines(listed(api, charge=first["id"], balance="available")) == [("settle", "available", NET)]
    assert listed(api, currency="JPY") == listed(api, balance="reserved") == []
    assert listed(api, charge=first["id"], currency="USD") == []


def test_transactions_are_found_by_their_time_to_the_millisecond(api: Api) -> None:
    for _ in range(3):
        api.charge()
    rows = listed(api)
    moments = sorted({row["created_at"] for row in rows})
    for moment in moments:
        since, before = listed(api, **{"created_at[gte]": moment}), listed(api, **{"created_at[lt]": moment})
        assert since + before == rows
        assert all(row["created_at"] >= moment for row in since)
        assert all(row["created_at"] < moment for row in before)
        later = iso(datetime.fromisoformat(moment) + timedelta(microseconds=1))
        assert [row for row in rows if row["created_at"] > moment] == listed(api, **{"created_at[gte]": later})


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"balance": "held"}, "balance"),
        ({"currency": "XXX"}, "currency"),
        ({"charge": nobodys("ch")}, "charge"),
        ({"payout": nobodys("po")}, "payout"),
        ({"charge": "po_" + "0" * 32}, "charge"),
        ({"created_at[gte]": "2099-01-01"}, "created_at[gte]"),
        ({"start_after": nobodys("txn")}, "start_after"),
        ({"type": "fee"}, "type"),
    ],
)
def test_a_filter_of_transactions_that_matches_nothing_is_refused(api: Api, query: dict[str, str], param: str) -> None:
    assert faults_of(api.get(PATH, **query)).keys() == {param}


def test_no_transaction_is_of_a_charge_and_a_payout(api: Api, schedule: PayoutSchedule) -> None:
    charge = settled(api)
    payout = public_id("po", make.make_now(schedule.id).id)
    assert faults_of(api.get(PATH, charge=charge["id"], payout=payout)).keys() == {"payout"}


@pytest.mark.parametrize("asker", ["other_api", "live_api"])
def test_nobody_sees_a_transaction_of_another_merchant_or_mode(
    request: pytest.FixtureRequest, api: Api, asker: str
) -> None:
    charge = api.charge()
    [_, capture] = listed(api)
    other: Api = request.getfixturevalue(asker)
    assert listed(other) == []
    answer = other.get(f"{PATH}{capture['id']}")
    unknown = other.get(f"{PATH}{nobodys('txn')}")
    assert (answer.status_code, error_of(answer)["message"]) == (404, error_of(unknown)["message"])
    assert faults_of(other.get(PATH, charge=charge["id"])).keys() == {"charge"}
    assert faults_of(other.get(PATH, start_after=capture["id"])).keys() == {"start_after"}


@pytest.mark.long
def test_the_pages_of_a_busy_history_add_up_to_the_balance_and_to_its_payouts(api: Api) -> None:
    history = History(api)
    for currency in ("USD", "JPY"):
        api.charge(currency=currency, amount=777)
    rows = all_pages(api, PATH, limit=100)
    ids = [row["id"] for row in rows]
    assert ids == sorted(set(ids), reverse=True)
    assert {name for name, _ in balance(api)} == {"pending", "available", "reserved"}
    assert summed(rows) == balance(api)
    assert all_pages(api, PATH, limit=7) == rows
    for (name, currency), amount in balance(api).items():
        found = all_pages(api, PATH, balance=name, currency=currency, limit=10)
        assert summed(found) == {(name, currency): amount}
    for payout in history.payouts.values():
        parts = all_pages(api, f"/payouts/{public_id('po', payout.id)}/transactions", limit=3)
        assert sum(row["amount"] for row in parts) == payout.amount + payout.reserve


def test_settling_moves_the_same_amount_between_the_balances(api: Api) -> None:
    for amount in (1_000, 2_000, 3_000):
        api.charge(amount=amount)
    settle()
    rows = [row for row in listed(api) if row["type"] == "settle"]
    assert summed(rows) == {("available", "PHP"): 6_000 - 255, ("pending", "PHP"): 255 - 6_000}


def test_a_payout_that_is_paid_after_it_had_failed_is_a_transaction_of_its_own_type(
    api: Api, schedule: PayoutSchedule
) -> None:
    settled(api)
    payout = Payout.objects.select_related("account").get(id=make.make_now(schedule.id).id)
    states.mark_paid_late(states.mark_failed(states.mark_sent(payout), "returned"))
    rows = all_pages(api, PATH, payout=public_id("po", payout.id), balance="available")
    assert lines(rows)[-1] == ("payout_late", "available", -payout.amount)
    assert rows[0]["type"] in KINDS
    assert faults_in(rows[0], TRANSACTION) == []
