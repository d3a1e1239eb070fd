"""Captures, voids, refunds and extensions: what each state allows, and that money is never given twice."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from payments import clock
from payments.providers.base import Approved, Declined, Outcome, Payment, Pending
from payments.providers.simulator.disputes import advance_due
from payments.providers.simulator.models import Entry, SimulatedOperation, SimulatedPayment
from payments.providers.simulator.reports import done_between
from tests.client import REFUNDS_FAIL, REFUNDS_WAIT
from tests.simulator.factories import by_type, operation, payment, simulator, taken

pytestmark = pytest.mark.django_db
WEEK = 7
DISPUTED = "4000000000000259"


def do(kind: str, of: Payment, amount: int = 10_000) -> Outcome:
    return getattr(simulator, kind)(replace(operation(kind, of, amount), hold_days=WEEK if kind == "extend" else 0))


def booked(asked: Payment) -> SimulatedPayment:
    return SimulatedPayment.objects.get(reference=asked.reference)


def entered(asked: Payment) -> list[tuple[str, int]]:
    entries = Entry.objects.filter(payment__reference=asked.reference)
    return list(entries.order_by("id").values_list("kind", "amount"))


def let_refunds_settle() -> None:
    unsettled = SimulatedOperation.objects.filter(settles_at__isnull=False)
    unsettled.update(settles_at=clock.now() - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("capture", "movement"), [(False, ("release", 10_000)), (True, ("void", 10_000))], ids=["held", "captured"]
)
def test_a_void_gives_back_what_was_held_or_taken(capture: bool, movement: tuple[str, int]) -> None:
    made = taken(capture=capture)
    assert isinstance(do("void", made), Approved)
    assert entered(made)[-1] == movement
    assert booked(made).state == "voided"


def test_a_payment_that_awaits_its_payer_is_cancelled_and_not_voided() -> None:
    asked = by_type("gcash")
    simulator.create_payment(asked)
    assert isinstance(do("void", asked), Declined)
    assert isinstance(do("cancel", asked), Approved)
    outcome = simulator.continue_payment(asked, {})
    assert isinstance(outcome, Declined)
    assert outcome.code == "payer_cancelled"


def test_a_hold_is_extended_once_for_each_reference_and_no_money_moves() -> None:
    held = taken(capture=False)
    asked = replace(operation("extend", held), hold_days=WEEK)
    outcomes = [simulator.extend(asked), simulator.extend(asked), simulator.resolve(asked)]
    assert all(isinstance(outcome, Approved) for outcome in outcomes)
    assert (booked(held).extended_days, booked(held).state) == (WEEK, "held")
    assert entered(held) == [("hold", 10_000)]


IMPOSSIBLE = {
    "capture of more than was held": (False, [("capture", 10_001)]),
    "second capture": (False, [("capture", 1_000), ("capture", 1_000)]),
    "capture of a captured": (True, [("capture", 10_000)]),
    "capture of a voided": (False, [("void", 0), ("capture", 10_000)]),
    "second void": (False, [("void", 0), ("void", 0)]),
    "void of a refunded": (True, [("refund", 1), ("void", 0)]),
    "refund of a held": (False, [("refund", 1)]),
    "refund of a voided": (True, [("void", 0), ("refund", 1)]),
    "refund of more than was captured": (False, [("capture", 4_000), ("refund", 4_001)]),
    "refund of more than is left": (True, [("refund", 6_000), ("refund", 4_001)]),
    "extension of a captured": (True, [("extend", 0)]),
    "extension of a voided": (False, [("void", 0), ("extend", 0)]),
    "fourth extension": (False, [("extend", 0)] * 4),
}


@pytest.mark.parametrize(("capture", "steps"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_the_state_does_not_allow_is_refused(capture: bool, steps: list[tuple[str, int]]) -> None:
    made = taken(capture=capture)
    outcomes = [do(kind, made, amount) for kind, amount in steps]
    last = outcomes.pop()
    assert all(isinstance(outcome, Approved) for outcome in outcomes)
    assert isinstance(last, Declined)
    assert (last.code, last.provider_code) == ("processing_error", "not_possible")
    assert last.message


def test_what_the_payers_bank_has_taken_back_is_not_refunded() -> None:
    disputed = taken(DISPUTED)
    advance_due(1)
    assert isinstance(do("refund", disputed, 1), Declined)


def test_a_dispute_takes_its_next_step_in_a_week_and_none_after_its_last() -> None:
    disputed = taken(DISPUTED)
    advance_due(1)
    next_at = booked(disputed).dispute_due_at
    assert next_at
    assert next_at > clock.now()
    with clock.at(next_at):
        advance_due(1)
    assert booked(disputed).dispute_due_at is None


def test_a_dispute_is_none_of_what_we_asked_for() -> None:
    taken(DISPUTED)
    advance_due(1)
    done = done_between(clock.now() - timedelta(minutes=1), clock.now() + timedelta(minutes=1))
    assert [each.kind for each in done] == ["authorize"]


@pytest.mark.parametrize("kind", ["capture", "void", "refund", "extend"])
def test_nothing_can_be_done_with_a_declined_payment(kind: str) -> None:
    assert isinstance(do(kind, taken("4000000000000002")), Declined)


@pytest.mark.parametrize("kind", ["capture", "void", "refund", "extend"])
def test_nothing_can_be_done_with_a_payment_that_was_never_made(kind: str) -> None:
    outcome = do(kind, payment())
    assert isinstance(outcome, Declined)
    assert outcome.provider_code == "payment_not_found"


def test_a_refund_that_fails_later_gives_its_amount_back() -> None:
    made = taken(REFUNDS_FAIL)
    refund = operation("refund", made, 4_000)
    assert isinstance(simulator.refund(refund), Approved)
    assert isinstance(simulator.resolve(refund), Approved)
    let_refunds_settle()
    assert isinstance(simulator.resolve(refund), Declined)
    assert isinstance(simulator.refund(refund), Declined)
    assert booked(made).amount_refunded == 0
    assert entered(made)[-2:] == [("refund", 4_000), ("refund_returned", 4_000)]


def test_a_refund_that_pends_succeeds_later() -> None:
    made = taken(REFUNDS_WAIT)
    refund = operation("refund", made, 4_000)
    assert isinstance(simulator.refund(refund), Pending)
    assert isinstance(simulator.resolve(refund), Pending)
    let_refunds_settle()
    assert isinstance(simulator.resolve(refund), Approved)
    assert booked(made).amount_refunded == 4_000


def test_a_refund_waits_as_long_as_the_setting_says(settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 90
    simulator.refund(operation("refund", taken(REFUNDS_WAIT)))
    row = SimulatedOperation.objects.get()
    assert row.settles_at - row.created_at == pytest.approx(timedelta(seconds=90), abs=timedelta(seconds=5))


STEPS = st.lists(st.tuples(st.sampled_from(["capture", "void", "refund", "settle"]), st.integers(1, 120)), max_size=8)


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.booleans(), st.sampled_from([REFUNDS_FAIL, REFUNDS_WAIT, "4000000000003055"]))
def test_no_order_of_operations_gives_back_more_than_was_taken(
    steps: list[tuple[str, int]], capture: bool, number: str
) -> None:
    made = taken(number, amount=100, capture=capture)
    for kind, amount in steps:
        let_refunds_settle() if kind == "settle" else do(kind, made, amount)
        simulator.due_events(10)
        totals = dict(Entry.objects.filter(payment=booked(made)).values_list("kind").annotate(Sum("amount")))
        refunded = totals.get("refund", 0) - totals.get("refund_returned", 0)
        assert 0 <= refunded + totals.get("void", 0) <= totals.get("capture", 0) <= 100
        assert totals.get("release", 0) + totals.get("capture", 0) in ((0, 100) if capture is False else (100,))
        assert booked(made).amount_refunded == refunded
