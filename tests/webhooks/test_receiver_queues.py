"""Whose turn it is to be sent to while receivers hang: real drains, and receivers that never answer.

The numbers of places are written out, because a test that reads them from the code is content with any.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import pytest
from django.db import transaction

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.embedded.processes import wait_until
from payments.models import Webhook, WebhookAttempt
from payments.webhooks.transport.client import Limits, Transport
from payments.webhooks.worker import DeliveryLoop
from tests.figures.webhooks.events import put_events
from tests.figures.webhooks.schedule import MovedClock
from tests.support.receiver import Receiver
from tests.webhooks.test_delivery import send_to
from tests.webhooks.test_worker import in_thread, leased

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
# Longer than any test waits: whatever arrives meanwhile has not waited for a try to end.
PATIENT = Limits(total_seconds=120)
IMPATIENT = Limits(connect_seconds=1.0, total_seconds=1.0)
WAIT_SECONDS = 30


@pytest.fixture
def other_shop() -> NewMerchant:
    return create_merchant("Other Store")


@contextmanager
def hanging_receivers(count: int) -> Iterator[list[Receiver]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Receiver(lambda call: None)) for _ in range(count)]


@contextmanager
def draining(*drains: DeliveryLoop, until_over: list[Receiver]) -> Iterator[None]:
    """Run the drains; at the end the receivers hang up until nothing is under way."""
    runs = [in_thread(drain.run) for drain in drains]
    try:
        yield
    finally:
        for drain in drains:
            drain.stop()
        while not all(run.done() for run in runs):
            for receiver in until_over:
                receiver.hang_up()
            threading.Event().wait(0.05)


def patient_drain() -> DeliveryLoop:
    return DeliveryLoop(transport=lambda: Transport(limits=PATIENT))


def calls_at(receivers: list[Receiver]) -> int:
    return sum(len(receiver.calls) for receiver in receivers)


def test_a_receiver_that_hangs_has_fifty_places_and_holds_up_nobody_else(shop: NewMerchant) -> None:
    with hanging_receivers(1) as [hanging], ExitStack() as stack:
        others = [stack.enter_context(Receiver()) for _ in range(5)]
        send_to(shop, hanging, 800)
        drain = patient_drain()
        with draining(drain, until_over=[hanging]):
            assert wait_until(lambda: len(hanging.calls) == 50, WAIT_SECONDS)
            for other in others:
                send_to(shop, other, 100)
            assert wait_until(lambda: calls_at(others) == 500, WAIT_SECONDS)
            assert len(hanging.calls) == 50
            drain.stop()
            assert wait_until(lambda: leased() == 50, WAIT_SECONDS)
    assert Webhook.objects.filter(state="delivered").count() == 500
    assert WebhookAttempt.objects.filter(error="disconnected").count() == 50


def test_a_merchant_whose_receivers_hang_has_a_third_of_the_places_and_the_next_one_most_of_the_rest(
    shop: NewMerchant, other_shop: NewMerchant
) -> None:
    with hanging_receivers(20) as hanging:
        first, second = hanging[:10], hanging[10:]
        for receiver in first:
            send_to(shop, receiver, 50)
        with draining(drain := patient_drain(), until_over=hanging):
            assert wait_until(lambda: calls_at(first) >= 133, WAIT_SECONDS)
            # All at once, because a receiver that comes later takes a place that was kept for it.
            with transaction.atomic():
                for receiver in second:
                    send_to(other_shop, receiver, 50)
            assert wait_until(lambda: calls_at(second) >= 89, WAIT_SECONDS)
            drain.stop()
            assert wait_until(lambda: leased() == 133 + 89, WAIT_SECONDS)
            assert (calls_at(first), calls_at(second)) == (133, 89)


@pytest.mark.parametrize("workers", [1, 2])
def test_while_forty_receivers_of_a_merchant_hang_first_tries_of_others_arrive(
    shop: NewMerchant, other_shop: NewMerchant, workers: int
) -> None:
    with hanging_receivers(40) as hanging, Receiver() as others, Receiver() as own:
        for receiver in hanging:
            send_to(shop, receiver, 26)
        with draining(*(patient_drain() for _ in range(workers)), until_over=hanging):
            assert wait_until(lambda: calls_at(hanging) >= 133, WAIT_SECONDS)
            sent, sent_to_own = send_to(other_shop, others), send_to(shop, own)
            assert wait_until(lambda: others.event_ids == sent, WAIT_SECONDS)
            assert wait_until(lambda: own.event_ids == sent_to_own, WAIT_SECONDS)
            assert calls_at(hanging) <= 200 * workers


def test_a_receiver_that_hung_gets_two_places(shop: NewMerchant) -> None:
    with hanging_receivers(1) as [hanging]:
        send_to(shop, hanging, 8)
        moved = MovedClock(clock.now())
        drain = DeliveryLoop(moved, lambda: Transport(limits=IMPATIENT))
        assert drain.run() == 8
        moved.moment += timedelta(seconds=10)
        assert drain.run() == 8
    later = sorted(call.at for call in hanging.calls[8:])
    # A third begins when one of the two before it is over, after a second.
    assert min(third - first for first, third in zip(later, later[2:], strict=False)) > 0.8


def test_a_receiver_that_answers_again_gets_all_its_places_back(shop: NewMerchant) -> None:
    with Receiver(lambda call: None) as receiver:
        send_to(shop, receiver)
        moved, limits = MovedClock(clock.now()), [IMPATIENT]
        drain = DeliveryLoop(moved, lambda: Transport(limits=limits[-1]))
        assert drain.run() == 1
    with Receiver(port=receiver.port) as receiver:
        moved.moment += timedelta(seconds=10)
        assert drain.run() == 1
    with Receiver(lambda call: None, port=receiver.port) as receiver:
        send_to(shop, receiver, 10)
        moved.moment = clock.now() + timedelta(seconds=10)
        limits.append(PATIENT)
        with draining(drain, until_over=[receiver]):
            assert wait_until(lambda: len(receiver.calls) == 10, WAIT_SECONDS)


def test_a_receiver_behind_very_many_that_wait_for_later_is_still_found(shop: NewMerchant) -> None:
    with Receiver() as receiver:
        for number in range(260):
            put_events(shop.merchant, f"http://127.0.0.1:{2001 + number}/", 1, clock.now())
        Webhook.objects.update(due_at=clock.now() + timedelta(hours=1))
        # Last by its name.
        send_to(shop, receiver)
        Webhook.objects.filter(url=receiver.url).update(receiver="https://zzz.example:443")
        assert DeliveryLoop().run() == 1
    assert len(receiver.calls) == 1
