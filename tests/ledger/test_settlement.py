"""Settlement: what settles, when, and its postings."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.ledger import settlement
from payments.ledger.totals import Totals, totals_of
from payments.models import Charge, Posting, Settlement
from payments.sweeps.scope import Scope
from payments.tasks import run_sweep
from tests.charging.doubles import NeverHears, provider
from tests.charging.elapsed_time import let_time_pass, settle_refunds
from tests.client import REFUNDS_FAIL, Api, error_of, made
from tests.contract.lists.many_charges import sell
from tests.ledger.books import row_of, settle, standing, uuid_of
from tests.plans import scans_of

pytestmark = pytest.mark.usefixtures("fees")


def totals() -> Totals:
    """Return the totals of the only settlement."""
    [found] = totals_of(Settlement.objects.all()).values()
    return found


def begin_the_next_day() -> None:
    """Move all settlements to yesterday."""
    with connection.cursor() as cursor:
        # Only a superuser may, and only so, change what is append-only.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("UPDATE payments_settlement SET day = day - 1")
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def test_a_charge_is_due_at_the_end_of_the_day_on_which_it_was_captured(api: Api) -> None:
    charge = row_of(api.charge())
    assert charge.settle_due_at == datetime.combine(charge.created_at.date() + timedelta(days=1), time(), UTC)
    assert settlement.settle_due() == 0


def test_held_and_failed_charges_are_never_due(api: Api) -> None:
    for charge in (api.held(), api.charge("4000000000000002"), api.charge("4242424242424242")):
        assert row_of(charge).settle_due_at is None


def test_a_voided_charge_is_not_due_any_more(api: Api) -> None:
    charge = api.charge()
    made(api.post(f"/charges/{charge['id']}/void"))
    assert settle() == 0


def test_settled_money_is_available_and_in_the_bank(api: Api) -> None:
    charge = api.charge()

    assert settle() == 1

    assert standing() == {"bank": 10_000, "merchant_payable": -9_635, "fees": -365}
    row = row_of(charge)
    assert row.settled_at
    assert row.settle_due_at is None
    assert settle() == 0


def test_a_settled_charge_is_not_voided(api: Api) -> None:
    charge = api.charge()
    settle()
    refusal = api.post(f"/charges/{charge['id']}/void")
    assert (refusal.status_code, error_of(refusal)["code"]) == (409, "charge_not_voidable")


def test_a_settled_charge_is_refunded(api: Api) -> None:
    charge = api.charge()
    settle()
    assert made(api.post(f"/charges/{charge['id']}/refund"))["status"] == "refunded"


def test_a_settlement_changes_nothing_that_the_merchant_sees(api: Api) -> None:
    charge = api.charge()
    settle()
    assert api.read(charge) == charge


def test_a_charge_with_an_operation_under_way_is_left_for_the_next_time(api: Api) -> None:
    charge = api.charge()
    with provider(NeverHears()):
        api.post(f"/charges/{charge['id']}/refund", {"amount": 1})
    assert settle() == 0
    assert row_of(charge).settle_due_at


def test_a_refund_of_a_settled_charge_settles_at_the_end_of_its_day(api: Api) -> None:
    charge = api.charge()
    settle()
    begin_the_next_day()
    first = row_of(charge).settled_at
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    due_at = row_of(charge).settle_due_at
    assert due_at
    assert due_at > clock.now()

    assert settle() == 1

    assert standing() == {"bank": 6_000, "merchant_payable": -5_635, "fees": -365}
    assert row_of(charge).settled_at == first
    newest = Settlement.objects.latest("day")
    assert totals_of([newest])[newest.id] == Totals(charges=1, refunds=4_000, net=-4_000)


def test_a_refund_does_not_delay_a_settlement(api: Api) -> None:
    charge = api.charge()
    let_time_pass(Charge, "settle_due_at")
    due_at = row_of(charge).settle_due_at
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1}))
    assert row_of(charge).settle_due_at == due_at


def test_a_refund_that_fails_after_its_settlement_is_settled_back(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    settle()
    begin_the_next_day()
    settle_refunds()

    assert settle() == 1

    assert standing() == {"bank": 10_000, "merchant_payable": -9_635, "fees": -365}
    newest = Settlement.objects.latest("day")
    assert totals_of([newest])[newest.id] == Totals(charges=1, refunds=-4_000, net=4_000)


def test_a_charge_that_has_nothing_left_to_settle_opens_no_settlement(api: Api, shop: NewMerchant) -> None:
    charge = api.charge(currency="JPY")
    made(api.post(f"/charges/{charge['id']}/refund"))
    assert settle() == 1
    assert not Settlement.objects.exists()


def test_a_settlement_sums_up_what_was_taken_given_back_and_charged_for(api: Api) -> None:
    api.charge()
    part = api.charge(amount=20_000)
    made(api.post(f"/charges/{part['id']}/refund", {"amount": 5_000}))
    settle()
    assert totals() == Totals(charges=2, gross=30_000, refunds=5_000, fees=365 + 715, net=23_920)


def test_a_day_has_one_settlement(api: Api) -> None:
    charge = api.charge()
    settle()
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    settle()
    assert totals() == Totals(charges=1, gross=10_000, refunds=4_000, fees=365, net=5_635)


def test_each_merchant_and_currency_has_a_settlement_of_its_own(
    api: Api, shop: NewMerchant, other_shop: NewMerchant
) -> None:
    other = Api(other_shop.keys["sk_test"])
    for charge in (api.charge(), api.charge(), api.charge(currency="JPY"), other.charge()):
        assert charge["captured"]

    assert settle() == 4

    counts = {
        (row.merchant_id, row.currency): totals_of([row])[row.id].charges
        for row in Settlement.objects.filter(livemode=False)
    }
    ours, others = shop.merchant.id, other_shop.merchant.id
    assert counts == {(ours, "PHP"): 2, (ours, "JPY"): 1, (others, "PHP"): 1}


def test_a_sweep_settles_no_more_than_its_limit_the_longest_due_first(api: Api) -> None:
    charges = [api.charge() for _ in range(3)]
    for number, charge in enumerate(charges):
        Charge.objects.filter(id=uuid_of(charge)).update(settle_due_at=clock.now() - timedelta(hours=number + 1))

    assert settlement.settle_due(limit=2) == 2

    assert [bool(row_of(charge).settled_at) for charge in charges] == [False, True, True]


def test_a_worker_settles_batch_after_batch(shop: NewMerchant) -> None:
    sell(shop.merchant, settlement.BATCH + 1)
    Charge.objects.update(settle_due_at=clock.now())
    assert run_sweep("settle_due") == settlement.BATCH + 1
    assert not Charge.objects.filter(settled_at=None).exists()


def test_a_sweep_of_one_merchant_leaves_the_others(api: Api, shop: NewMerchant, other_shop: NewMerchant) -> None:
    ours, others = api.charge(), Api(other_shop.keys["sk_test"]).charge()
    let_time_pass(Charge, "settle_due_at")
    assert settlement.settle_due(scope=Scope(shop.merchant.id, livemode=True)) == 0
    assert settlement.settle_due(scope=Scope(shop.merchant.id, livemode=False)) == 1
    assert (bool(row_of(ours).settled_at), row_of(others).settled_at) == (True, None)


def test_a_settlement_takes_the_same_statements_however_many_charges_it_has(api: Api) -> None:
    counts = []
    api.charge()
    settle()
    for count in (1, 5):
        for _ in range(count):
            api.charge()
        let_time_pass(Charge, "settle_due_at")
        with CaptureQueriesContext(connection) as captured:
            assert settlement.settle_due() == count
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_due_charges_are_found_by_their_index(api: Api, shop: NewMerchant) -> None:
    sell(shop.merchant, 5_000)
    for _ in range(3):
        api.charge()
    let_time_pass(Charge, "settle_due_at")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_charge")
    with CaptureQueriesContext(connection) as captured:
        settlement.settle_due()
    [lock] = [query["sql"] for query in captured if "SKIP LOCKED" in query["sql"]]
    [scan] = scans_of(lock)
    assert (scan["Node Type"], scan["Index Name"]) == ("Index Scan", "charge_settle_due")


class Crash(Exception):
    """The end of the process."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", range(1, 7))
def test_a_crash_between_any_two_statements_leaves_nothing_half_done(api: Api, statement: int) -> None:
    charge = api.charge()
    let_time_pass(Charge, "settle_due_at")
    before = Charge.objects.filter(id=uuid_of(charge)).values().get(), standing()
    sent = 0

    def crash(execute: Any, *rest: Any) -> Any:
        nonlocal sent
        sent += 1
        if sent == statement:
            raise Crash
        return execute(*rest)

    with connection.execute_wrapper(crash), pytest.raises(Crash):
        settlement.settle_due()

    assert (Charge.objects.filter(id=uuid_of(charge)).values().get(), standing()) == before
    assert not Posting.objects.filter(kind="settle").exists()
    assert settlement.settle_due() == 1
