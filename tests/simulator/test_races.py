"""The simulator asked by many at once: its books must hold."""

import pytest

from payments import clock
from payments.providers.base import Approved
from payments.providers.simulator.models import Entry, Message, SimulatedOperation, SimulatedPayment
from tests.client import REFUNDS_FAIL
from tests.concurrency import at_once
from tests.simulator.factories import operation, payment, simulator, taken

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = 8


def test_one_reference_asked_many_times_at_once_is_booked_once() -> None:
    asked = payment()
    answers = at_once(AT_ONCE, lambda _: simulator.create_payment(asked))
    assert len(set(map(repr, answers))) == 1
    assert (SimulatedPayment.objects.count(), Entry.objects.count()) == (1, 1)


def test_one_refund_asked_many_times_at_once_is_given_once() -> None:
    refund = operation("refund", taken(), 1_000)
    answers = at_once(AT_ONCE, lambda _: simulator.refund(refund))
    assert len(set(map(repr, answers))) == 1
    assert SimulatedPayment.objects.get().amount_refunded == 1_000


def test_refunds_at_once_never_give_more_than_was_taken() -> None:
    made = taken()
    answers = at_once(AT_ONCE, lambda _: simulator.refund(operation("refund", made, 3_000)))
    assert sum(isinstance(answer, Approved) for answer in answers) == 3
    assert SimulatedPayment.objects.get().amount_refunded == 9_000


def test_a_late_refund_that_many_look_up_at_once_ends_once() -> None:
    refund = operation("refund", taken(REFUNDS_FAIL), 1_000)
    simulator.refund(refund)
    SimulatedOperation.objects.update(settles_at=clock.now())
    answers = at_once(AT_ONCE, lambda _: simulator.resolve(refund))
    assert len(set(map(repr, answers))) == 1
    assert SimulatedPayment.objects.get().amount_refunded == 0
    assert Message.objects.count() == 1
