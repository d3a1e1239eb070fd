"""What the simulator reports by itself: signed, at least once, until it was taken."""

from datetime import timedelta

import pytest

from payments import clock
from payments.domain.maintenance.retention import delete_old_rows
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.providers.base import Approved, BadSignature, Declined, Payment
from payments.providers.simulator import books, messages
from payments.providers.simulator.models import Message, SimulatedOperation, SimulatedPayment
from tests.client import REFUNDS_FAIL, REFUNDS_WAIT
from tests.simulator.factories import by_type, operation, payment, simulator, taken

pytestmark = pytest.mark.django_db


def awaited(asked: Payment) -> SimulatedPayment:
    simulator.create_payment(asked)
    return SimulatedPayment.objects.get(reference=asked.reference)


def make_due(**rows: object) -> None:
    Message.objects.filter(**rows).update(due_at=clock.now() - timedelta(seconds=1))


def test_no_message_reports_what_was_answered() -> None:
    simulator.refund(operation("refund", taken()))
    assert simulator.due_events(10) == []


def test_a_payers_decision_is_reported() -> None:
    agreed, refused = by_type("gcash"), payment(authenticate=True)
    books.approve(awaited(agreed), send_message=True)
    books.decline(awaited(refused), "authentication_failed", send_message=True)
    announced = {event.reference: event.outcome for event in simulator.due_events(10)}
    assert announced == {agreed.reference: simulator.resolve(agreed), refused.reference: simulator.resolve(refused)}


def test_a_payer_who_let_the_time_pass_reads_so() -> None:
    asked = by_type("gcash")
    awaited(asked)
    SimulatedPayment.objects.update(expires_at=clock.now())
    [event] = simulator.due_events(10)
    assert isinstance(event.outcome, Declined)
    assert event.outcome.code == "action_expired"


@pytest.mark.parametrize(("number", "kind"), [(REFUNDS_FAIL, Declined), (REFUNDS_WAIT, Approved)])
def test_the_late_end_of_a_refund_is_reported(number: str, kind: type) -> None:
    refund = operation("refund", taken(number))
    simulator.refund(refund)
    SimulatedOperation.objects.update(settles_at=clock.now())
    [event] = simulator.due_events(10)
    assert event.reference == refund.reference
    assert isinstance(event.outcome, kind)


def test_a_message_that_was_taken_is_forgotten_after_its_days_and_no_other() -> None:
    for _ in range(3):
        books.approve(awaited(by_type("gcash")), send_message=True)
    taken_long_ago, taken_lately, waiting = Message.objects.order_by("id")
    first_at = clock.now()
    messages.acknowledge(taken_long_ago.id)
    with clock.at(first_at + timedelta(hours=1)):
        messages.acknowledge(taken_lately.id)
    with clock.at(first_at + timedelta(days=90)):
        delete_old_rows()
    assert Message.objects.count() == 3
    with clock.at(first_at + timedelta(days=90, minutes=30)):
        delete_old_rows()
    assert set(Message.objects.all()) == {taken_lately, waiting}


def test_a_message_is_reported_again_until_it_is_acknowledged() -> None:
    books.approve(awaited(by_type("gcash")), send_message=True)
    [first] = simulator.due_events(10)
    assert simulator.due_events(10) == []
    make_due()
    [again] = simulator.due_events(10)
    assert again == first
    simulator.acknowledge(again)
    simulator.acknowledge(again)
    make_due()
    assert simulator.due_events(10) == []


def test_no_more_messages_are_taken_than_wanted_and_the_oldest_first() -> None:
    asked = [by_type("gcash") for _ in range(3)]
    for each in asked:
        books.approve(awaited(each), send_message=True)
    assert [event.reference for event in simulator.due_events(2)] == [each.reference for each in asked[:2]]


def test_a_decision_is_reported_once_although_it_is_made_twice() -> None:
    row = awaited(by_type("gcash"))
    books.approve(row, send_message=True)
    books.approve(row, send_message=True)
    books.decline(row, "payer_cancelled", send_message=True)
    assert Message.objects.count() == 1


def test_a_message_that_nobody_signed_is_refused() -> None:
    books.approve(awaited(by_type("gcash")), send_message=True)
    body = Message.objects.get().body.encode()
    with pytest.raises(BadSignature):
        simulator.read_webhook({}, body)


def test_a_message_with_another_body_is_refused() -> None:
    books.approve(awaited(by_type("gcash")), send_message=True)
    body = Message.objects.get().body.encode()
    headers = messages.sign(body)
    assert isinstance(simulator.read_webhook(headers, body)[0].outcome, Approved)
    with pytest.raises(BadSignature):
        simulator.read_webhook(headers, body + b" ")


def test_a_message_of_a_kind_that_no_table_names_is_logged_as_an_error_and_delays_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Message.objects.create(body='{"reference": "0190", "kind": "frozen", "outcome": {}}')
    asked = by_type("gcash")
    books.approve(awaited(asked), send_message=True)
    assert apply_simulator_messages() == 2
    levels = [record.levelname for record in caplog.records if record.message == "message was not applied"]
    assert levels == ["ERROR", "WARNING"]  # the other is of a payment that the simulator alone knows
    assert not messages.unacknowledged().exists()
