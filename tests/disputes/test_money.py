"""The money of a dispute: what a payer's bank takes back and gives back, posting by posting."""

from typing import Any

import pytest

from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from payments.models import Dispute, Posting
from tests.client import APPROVED, Api, error_of, made
from tests.disputes.stories import AT_ONCE, INQUIRY, LATER, LOST, WON, a_week_passes, deliver, disputed
from tests.ledger.books import RATE, charge_fees, row_of, settle, standing

AMOUNT = 10_000


def shown(api: Api) -> dict[str, Any]:
    [dispute] = api.get("/disputes/").json()["data"]
    return dict(dispute)


def kinds(charge: dict[str, Any]) -> list[tuple[str, str, int]]:
    rows = Posting.objects.filter(charge=row_of(charge), kind__startswith="dispute").order_by("created_at", "line")
    return [(row.kind, row.account, row.amount) for row in rows]


def test_a_chargeback_before_settlement_takes_the_money_from_what_is_pending(api: Api) -> None:
    charge = disputed(api, AT_ONCE, amount=AMOUNT)
    assert kinds(charge) == [("dispute", "merchant_pending", AMOUNT), ("dispute", "provider_receivable", -AMOUNT)]
    assert standing() == {}
    assert api.get(f"/charges/{charge['id']}").json()["disputed"] is True


def test_a_chargeback_after_settlement_makes_the_balance_negative_until_it_is_settled_too(api: Api) -> None:
    charge = api.charge(LATER, amount=AMOUNT)
    settle()
    a_week_passes()
    assert kinds(charge) == [("dispute", "merchant_payable", AMOUNT), ("dispute", "provider_receivable", -AMOUNT)]
    assert settle() == 1
    assert standing() == {}


def test_the_fee_of_the_payment_is_kept(api: Api) -> None:
    charge_fees(row_of(api.charge(APPROVED)).merchant)
    before = standing()
    disputed(api, AT_ONCE, amount=AMOUNT)
    fee = AMOUNT * RATE.basis_points // 10_000 + RATE.fixed
    after = standing()
    assert after["fees"] - before.get("fees", 0) == -fee
    assert after["merchant_pending"] - before["merchant_pending"] == fee


@pytest.mark.parametrize(("number", "status", "taken"), [(WON, "won", 0), (LOST, "lost", AMOUNT)])
def test_a_dispute_that_is_won_gives_the_money_back_and_a_lost_one_does_not(
    api: Api, number: str, status: str, taken: int
) -> None:
    charge = disputed(api, number, amount=AMOUNT)
    a_week_passes()
    a_week_passes()
    assert (shown(api)["status"], shown(api)["withdrawn"]) == (status, bool(taken))
    assert sum(amount for _, account, amount in kinds(charge) if account == "provider_receivable") == -taken
    assert row_of(charge).amount_disputed == taken


def test_an_inquiry_moves_no_money_and_leaves_the_charge_refundable(api: Api) -> None:
    charge = disputed(api, INQUIRY, amount=AMOUNT)
    assert (shown(api)["status"], kinds(charge)) == ("warning", [])
    assert made(api.post(f"/charges/{charge['id']}/refund"))["status"] == "refunded"


@pytest.mark.parametrize("verb", ["refund", "void"])
def test_money_that_the_bank_has_is_not_given_back_twice(api: Api, verb: str) -> None:
    charge = disputed(api, AT_ONCE)
    error = error_of(api.post(f"/charges/{charge['id']}/{verb}"))
    assert error["code"] == "charge_not_" + {"refund": "refundable", "void": "voidable"}[verb]
    assert "bank" in error["message"]


def test_a_refunded_charge_may_be_disputed_all_the_same(api: Api) -> None:
    charge = api.charge(LATER, amount=AMOUNT)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    a_week_passes()
    row = row_of(charge)
    assert (row.amount_refunded, row.amount_disputed, row.status) == (4_000, AMOUNT, "succeeded")
    assert Dispute.objects.get().amount == AMOUNT


def test_every_invariant_holds_at_each_step_of_a_dispute(api: Api) -> None:
    for number in (AT_ONCE, INQUIRY, LATER, WON, LOST):
        api.charge(number)
    for step in (deliver, settle, a_week_passes, settle, a_week_passes, settle):
        step()
        assert [found.invariant.name for found in map(check, INVARIANTS) if found.count] == []
