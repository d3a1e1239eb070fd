"""Workers that deliver at the same time, and what they have claimed when they stop or die."""

import asyncio
import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db import connection
from psycopg import OperationalError

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.models import Webhook
from payments.webhooks import attempts, worker
from payments.webhooks.attempts import RECORDED_TOGETHER, TRY_TIME, Attempts
from payments.webhooks.claims import LEASE, Claimed
from payments.webhooks.receiver_queues import SENDS_AT_ONCE_TO_RECEIVER, SlowReceivers
from payments.webhooks.signatures import Signer
from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer, Failure, FailureKind
from payments.webhooks.worker import DeliveryLoop, SharedDeliveryLoop
from tests.charging.test_races import at_once
from tests.figures.webhooks.schedule import MovedClock
from tests.support.processes import PATIENCE_SECONDS
from tests.support.receiver import Receiver
from tests.webhooks.endpoints import claim, only
from tests.webhooks.test_delivery import send_to

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.long
def test_drains_at_once_try_each_webhook_once(shop: NewMerchant) -> None:
    with Receiver() as receiver:
        sent = send_to(shop, receiver, 300)
        counts = at_once(4, lambda _: DeliveryLoop().run())
    assert sum(counts) == 300
    assert sorted(receiver.event_ids) == sorted(sent)
    assert set(Webhook.objects.values_list("state", "tries")) == {("delivered", 1)}


def test_what_a_dead_worker_had_in_progress_is_sent_when_its_lease_is_over(shop: NewMerchant) -> None:
    with Receiver() as receiver:
        send_to(shop, receiver, 3)
        [*_, last] = claim()
        assert DeliveryLoop().run() == 0
        assert DeliveryLoop(MovedClock(last.lease)).run() == 3
    assert len(receiver.calls) == 3


def test_what_waited_until_its_lease_is_nearly_over_is_left_to_anybody_who_claims_it_next(shop: NewMerchant) -> None:
    async def try_late() -> bool:
        async with Transport() as transport:
            tries = Attempts(transport, clock.now)
            tries.start(late, {(shop.merchant.id, False): [shop.webhook_secrets["whsec_test"]]})
            await tries.wait(others_expected=False)
            return tries.over

    with Receiver() as receiver:
        send_to(shop, receiver)
        Webhook.objects.update(due_at=clock.now() - LEASE)
        late = claim(now=clock.now() + TRY_TIME - LEASE)
        assert asyncio.run(try_late())
        assert (len(late), receiver.calls) == (1, [])


def test_a_receiver_is_slow_after_a_try_that_took_long_or_in_which_nobody_answered() -> None:
    receiver, merchant, slow = "https://a.example:443", uuid4(), SlowReceivers()
    claimed = Claimed(uuid4(), uuid4(), merchant, False, None, receiver, receiver, b"", 0, None, clock.now() + LEASE)

    async def is_slow_after(result: Answer | Failure) -> bool:
        async def send(*_: object) -> Answer | Failure:
            return result

        tries = Attempts(SimpleNamespace(send=send), clock.now, slow)
        tries.start([claimed], {(merchant, False, None): Signer(["whsec_c2VjcmV0"], "Kaha")})
        await tries.wait(others_expected=False)
        return (merchant, False, receiver) in slow

    failures = {kind: asyncio.run(is_slow_after(Failure(kind, 0))) for kind in FailureKind}
    assert {kind for kind in failures if failures[kind]} == {"name_timeout", "connect_timeout", "timeout"}
    assert [asyncio.run(is_slow_after(Answer(200, b"", taken, None))) for taken in (5_000, 5_001, 0)] == [0, 1, 0]


def test_a_drain_that_is_asked_to_stop_finishes_what_is_under_way_and_gives_the_rest_back(shop: NewMerchant) -> None:
    proceed = threading.Event()
    with Receiver(lambda call: proceed.wait(PATIENCE_SECONDS) and 200) as receiver:
        send_to(shop, receiver, SENDS_AT_ONCE_TO_RECEIVER + 10)
        drain = DeliveryLoop()
        drained = in_thread(drain.run)
        assert wait_until(lambda: bool(receiver.calls), PATIENCE_SECONDS)
        drain.stop()
        assert wait_until(lambda: leased() == SENDS_AT_ONCE_TO_RECEIVER, PATIENCE_SECONDS)
        proceed.set()
        assert drained.result() == SENDS_AT_ONCE_TO_RECEIVER
    assert Webhook.objects.filter(state="waiting", leased_until=None).count() == 10


def leased() -> int:
    return Webhook.objects.filter(leased_until__isnull=False).count()


def test_a_process_drains_once_however_often_it_is_asked_and_misses_nothing(shop: NewMerchant) -> None:
    proceed = threading.Event()
    deliverer = SharedDeliveryLoop(DeliveryLoop())
    with Receiver(lambda call: proceed.wait(PATIENCE_SECONDS) and 200) as slow, Receiver() as other:
        send_to(shop, slow)
        drained = in_thread(deliverer.run)
        assert wait_until(lambda: bool(slow.calls), PATIENCE_SECONDS)
        send_to(shop, other)
        assert deliverer.run() == 0
        proceed.set()
        drained.result()
    assert set(Webhook.objects.values_list("state", flat=True)) == {"delivered"}


@pytest.mark.long
def test_a_drain_that_stays_awake_sends_what_comes_after_the_last_and_then_ends(
    shop: NewMerchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivered = Webhook.objects.filter(state="delivered")
    with Receiver() as receiver:
        send_to(shop, receiver)
        drained = in_thread(DeliveryLoop(awake_seconds=3600).run)
        assert wait_until(lambda: delivered.count() == 1, PATIENCE_SECONDS)
        send_to(shop, receiver)
        assert wait_until(lambda: delivered.count() == 2, PATIENCE_SECONDS)
        # Each look is an hour later, so that it does not matter whether the loop has noted the second one yet.
        hours = itertools.count(time.monotonic() + 3700, 3700)
        monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: next(hours)))
        assert drained.result(PATIENCE_SECONDS) == 2


def test_a_drain_that_stays_awake_stops_when_asked(shop: NewMerchant) -> None:
    with Receiver() as receiver:
        send_to(shop, receiver)
        drain = DeliveryLoop(awake_seconds=60.0)
        drained = in_thread(drain.run)
        assert wait_until(lambda: only().state == "delivered", PATIENCE_SECONDS)
        drain.stop()
        assert drained.result(PATIENCE_SECONDS) == 1


@pytest.mark.long
def test_ended_attempts_are_taken_as_soon_as_enough_or_all_have_ended(
    shop: NewMerchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "LOOK_SECONDS", 60)
    signer = Signer([shop.webhook_secrets["whsec_test"]], "X-Kaha")

    async def counts_taken() -> list[int]:
        async with Transport() as transport:
            tries, counts = Attempts(transport, clock.now), []
            tries.start(claimed, {(shop.merchant.id, False): signer})
            while not tries.over:
                await tries.wait(others_expected=not counts)
                counts.append(len(tries.take_ended()))
            return counts

    with Receiver() as receiver:
        send_to(shop, receiver, RECORDED_TOGETHER + 60)
        claimed = claim()
        first, *others = asyncio.run(counts_taken())
    assert first >= RECORDED_TOGETHER
    assert sum(others) == RECORDED_TOGETHER + 60 - first


def in_thread(do: Callable[[], int]) -> "Future[int]":
    """`do` under way, with database connections of its own."""

    def run() -> int:
        try:
            return do()
        finally:
            connection.close()

    with_one = ThreadPoolExecutor(1)
    future = with_one.submit(run)
    with_one.shutdown(wait=False)
    return future


@pytest.mark.unpooled
def test_a_database_that_goes_away_leaves_everything_to_be_sent_again(shop: NewMerchant) -> None:
    proceed = threading.Event()
    with Receiver(lambda call: proceed.wait(PATIENCE_SECONDS) and 200) as receiver:
        send_to(shop, receiver)
        drained = in_thread(DeliveryLoop().run)
        assert wait_until(lambda: bool(receiver.calls), PATIENCE_SECONDS)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        proceed.set()
        with pytest.raises(OperationalError):
            drained.result()
    assert (only().state, only().tries) == ("waiting", 0)
