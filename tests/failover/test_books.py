"""Whether the figure `failover` notices what it is there to notice."""

from typing import Any

from tests.figures.failover.books import Findings, compare

ANSWERED: dict[str, Any] = {
    "id": "ch_1",
    "status": "succeeded",
    "amount_captured": 1000,
    "refunds": [{"amount": 300, "status": "succeeded"}],
}
KEPT = {
    "description": "Order 1",
    "status": "succeeded",
    "amount_captured": 1000,
    "amount_refunded": 300,
    "reference": "r1",
}
PAYMENT = {"amount_captured": 1000, "amount_refunded": 300}


def facts(**own: Any) -> dict[str, Any]:
    return {
        "charges": {"ch_1": KEPT},
        "refunds": {"1-refund-0": 1},
        "events": ["evt_1"],
        "delivered": ["evt_1"],
        "unresolved": {"attempts": 0, "webhooks": 0},
        "broken_invariants": [],
    } | own


def compared(answered: Any = (ANSWERED,), payments: Any = None, received: Any = ("evt_1",), **own: Any) -> Findings:
    return compare(answered, facts(**own), {"r1": PAYMENT} if payments is None else payments, received)


def test_books_that_agree_hold() -> None:
    assert compared() == Findings([], [], [], [], [])
    assert compared().holds


def test_a_charge_that_was_answered_and_is_not_on_record_is_lost() -> None:
    found = compared(answered=[ANSWERED, ANSWERED | {"id": "ch_2"}])
    assert found.lost == ["ch_2 was answered and is not on record"]
    assert not found.holds


def test_a_charge_that_is_on_record_with_less_than_was_answered_is_lost() -> None:
    less = {"ch_1": KEPT | {"amount_refunded": 0}}
    assert compared(charges=less, payments={"r1": PAYMENT | {"amount_refunded": 0}}).lost
    failed = {"ch_1": KEPT | {"status": "failed", "amount_captured": 0}}
    assert len(compared(charges=failed).lost) == 2


def test_a_charge_that_was_answered_as_pending_may_fail() -> None:
    pending = ANSWERED | {"status": "pending", "amount_captured": 0, "refunds": []}
    failed = {"ch_1": KEPT | {"status": "failed", "amount_captured": 0, "amount_refunded": 0}}
    assert compared(answered=[pending], charges=failed, payments={}).holds


def test_money_at_the_provider_that_is_not_on_record_is_lost() -> None:
    assert compared(payments={"r1": PAYMENT, "r2": PAYMENT}).lost == ["r2 is at the provider and not on record"]


def test_a_webhook_that_was_received_and_is_not_on_record_is_lost() -> None:
    assert compared(received=["evt_1", "evt_2"]).lost == ["evt_2 was received and is not on record"]


def test_a_webhook_that_is_delivered_and_was_not_received_is_lost() -> None:
    assert compared(received=[]).lost == ["evt_1 is delivered and was not received"]


def test_an_order_with_two_charges_is_double() -> None:
    twice = {"ch_1": KEPT, "ch_2": KEPT}
    assert compared(charges=twice).double == ["Order 1 was done 2 times"]


def test_a_refund_that_was_made_twice_is_double() -> None:
    assert compared(refunds={"1-refund-0": 2}).double == ["1-refund-0 was done 2 times"]


def test_other_money_at_the_provider_than_here_is_a_difference() -> None:
    found = compared(payments={"r1": PAYMENT | {"amount_captured": 900}})
    assert found.differ == ["Order 1 has amount_captured 1000 here and 900 there"]


def test_what_has_no_outcome_is_unresolved() -> None:
    assert compared(unresolved={"attempts": 2, "webhooks": 0}).unresolved == ["2 attempts"]


def test_an_invariant_that_does_not_hold_is_a_finding() -> None:
    assert not compared(broken_invariants=["ledger_balances: 1"]).holds
