"""The simulator's books: each reference once, every movement entered, nothing of a card that must stay secret."""

import re

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from payments.providers.base import ActionRequired, Approved, Declined, NotFound, Payment
from payments.providers.simulator.models import Entry, Message, SimulatedOperation, SimulatedPayment
from tests.simulator.factories import by_type, operation, page_path, payment, simulator, taken

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "asked",
    [
        payment("4000000000003055"),
        payment("4242424242424242", capture=False),
        payment("4242424242424242", authenticate=True),
        payment("4000000000000002"),
        by_type("gcash"),
        by_type("bpi"),
    ],
    ids=["taken", "held", "challenged", "declined", "wallet", "pin"],
)
def test_the_same_reference_gets_the_same_answer_and_one_booking(asked: Payment) -> None:
    first = simulator.create_payment(asked)
    assert simulator.create_payment(asked) == first
    assert simulator.resolve(asked) == first
    assert SimulatedPayment.objects.count() == 1
    assert Entry.objects.count() == (1 if isinstance(first, Approved) else 0)


def test_an_operation_is_booked_once_and_answered_alike() -> None:
    refund = operation("refund", taken(), 4_000)
    first = simulator.refund(refund)
    assert isinstance(first, Approved)
    assert simulator.refund(refund) == first == simulator.resolve(refund)
    assert SimulatedPayment.objects.get().amount_refunded == 4_000
    assert Entry.objects.filter(kind="refund").count() == 1


def test_a_refused_operation_stays_refused_when_it_is_repeated() -> None:
    held = taken(capture=False)
    refund = operation("refund", held)
    refused = simulator.refund(refund)
    simulator.capture(operation("capture", held))
    assert isinstance(refused, Declined)
    assert simulator.refund(refund) == refused


def test_what_was_never_asked_is_not_found() -> None:
    nowhere = payment()
    assert simulator.resolve(nowhere) == NotFound()
    assert simulator.resolve(operation("refund", nowhere)) == NotFound()
    assert simulator.continue_payment(nowhere, {}) == NotFound()


def test_a_payment_is_booked_by_one_statement_that_waits_for_no_disk() -> None:
    with CaptureQueriesContext(connection) as asked:
        taken()
    [booking] = [each["sql"] for each in asked if "INSERT" in each["sql"]]
    assert "synchronous_commit" in booking


def test_the_answer_stays_the_same_after_the_money_moved_on() -> None:
    held = taken(capture=False)
    simulator.capture(operation("capture", held, 1_000))
    outcome = simulator.resolve(held)
    assert isinstance(outcome, Approved)
    assert not outcome.captured


def test_each_entry_names_the_payment_or_operation_that_moved_it() -> None:
    held, voided = taken(capture=False), taken()
    capture, refund, void = (
        operation("capture", held, 6_000),
        operation("refund", held, 1_000),
        operation("void", voided),
    )
    simulator.capture(capture)
    simulator.refund(refund)
    simulator.void(void)
    assert list(Entry.objects.order_by("id").values_list("reference", "kind", "amount")) == [
        (held.reference, "hold", 10_000),
        (voided.reference, "capture", 10_000),
        (capture.reference, "capture", 6_000),
        (capture.reference, "release", 4_000),
        (refund.reference, "refund", 1_000),
        (void.reference, "void", 10_000),
    ]


@pytest.mark.parametrize("change", ["UPDATE simulator_entry SET amount = 1", "DELETE FROM simulator_entry"])
def test_entries_are_never_changed_or_removed(change: str) -> None:
    taken()
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        connection.cursor().execute(change)


def test_an_impossible_amount_is_an_error_and_books_nothing() -> None:
    with pytest.raises(DatabaseError):
        simulator.create_payment(payment(amount=-1))
    assert not SimulatedPayment.objects.exists()


def test_the_books_hold_neither_card_number_nor_cvc_nor_page_token() -> None:
    numbers = ("4242424242424242", "4000000000005126")
    path = page_path(payment(numbers[0], cvc="987", authenticate=True))
    simulator.refund(operation("refund", taken(numbers[1])))
    rows = [
        value
        for model in (SimulatedPayment, SimulatedOperation, Entry, Message)
        for row in model.objects.values()
        for value in row.values()
    ]
    announced = " ".join(str(value) for value in rows)
    assert not re.search(rf"{'|'.join(numbers)}|\b987\b", announced)
    assert path.rpartition("/")[2] not in announced


def test_a_page_token_has_at_least_128_bits_and_differs_for_each_payment() -> None:
    tokens = {page_path(by_type("gcash")).rpartition("/")[2] for _ in range(3)}
    assert len(tokens) == 3
    assert all(len(token) * 6 >= 128 for token in tokens)


def test_going_on_before_the_payer_decided_changes_nothing() -> None:
    asked = by_type("gcash")
    first = simulator.create_payment(asked)
    assert isinstance(first, ActionRequired)
    assert simulator.continue_payment(asked, {}) == first
    assert simulator.continue_payment(asked, {"otp": "123456"}) == first
