"""The money of a dispute: what a payer's bank takes back and gives back, posting by posting."""

from datetime import timedelta
from typing import Any

import pytest

from payments import clock
from payments.domain.merchants import terms
from payments.domain.merchants.terms import BadTerms
from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from payments.ledger.fees import Rate
from payments.ledger.totals import totals_of
from payments.models import Dispute, Merchant, Posting, Settlement
from tests.client import APPROVED, Api, error_of, made
from tests.disputes.stories import AT_ONCE, INQUIRY, LATER, LOST, WON, a_week_passes, deliver, disputed
from tests.ledger.books import RATE, charge_fees, row_of, settle, standing

AMOUNT = 10_000
FEE = 750


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


def charge_dispute_fee(api: Api) -> None:
    terms.set_fee(Merchant.objects.get(), "dispute", "PHP", Rate(fixed=FEE))


def totals() -> list[tuple[int, int, int, int]]:
    """Return gross, refunds, fees and net of each settlement, oldest first."""
    settlements = list(Settlement.objects.order_by("id"))
    found = totals_of(settlements)
    return [found[settlement.id].amounts for settlement in settlements]


def test_a_dispute_costs_its_fee_while_the_bank_has_the_money(api: Api) -> None:
    charge_dispute_fee(api)
    charge = disputed(api, WON, amount=AMOUNT)
    a_week_passes()
    assert (shown(api)["fee"], standing(charge=row_of(charge))) == (FEE, {"merchant_pending": FEE, "fees": -FEE})
    a_week_passes()
    assert shown(api)["fee"] == 0
    assert standing(charge=row_of(charge)).get("fees") is None


def test_the_fee_is_the_one_of_the_day_on_which_the_money_was_taken_first(api: Api) -> None:
    charge_dispute_fee(api)
    disputed(api, WON, amount=AMOUNT)
    a_week_passes()
    terms.remove_fee(Merchant.objects.get(), "dispute", "PHP")
    a_week_passes()
    assert shown(api)["status"] == "won"
    assert standing().get("fees") is None


def test_the_fee_of_a_dispute_may_be_more_than_what_is_disputed(api: Api) -> None:
    charge_dispute_fee(api)
    disputed(api, AT_ONCE, amount=FEE - 1)
    assert api.get("/balance").json()["pending"] == [{"amount": -FEE, "currency": "PHP"}]


def test_the_fee_counts_in_the_settlement_that_follows_it(api: Api) -> None:
    charge_dispute_fee(api)
    api.charge(LATER, amount=AMOUNT)
    settle()
    with clock.at(clock.now() + timedelta(days=1)):
        a_week_passes()
        settle()
    assert totals() == [(AMOUNT, 0, 0, AMOUNT), (0, AMOUNT, FEE, -AMOUNT - FEE)]
    assert api.get("/balance").json()["available"] == [{"amount": -FEE, "currency": "PHP"}]


def test_a_share_is_no_fee_of_a_dispute(api: Api) -> None:
    with pytest.raises(BadTerms, match="fixed amount"):
        terms.set_fee(Merchant.objects.get(), "dispute", "PHP", Rate(basis_points=1))


def test_every_invariant_holds_with_fees_of_disputes(api: Api) -> None:
    charge_dispute_fee(api)
    test_every_invariant_holds_at_each_step_of_a_dispute(api)
