"""Workers outlive Redis: webhooks are sent while it is away, and a worker that lost it listens again by itself."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery.contrib.testing.worker import start_worker
from celery.worker import loops

from config.boot.addresses import broker_url
from config.celery import app
from payments.embedded.processes import wait_until
from payments.models import Sweep, Webhook
from payments.sweeps.table import SWEEPS
from tests.client import Api
from tests.support.receiver import Receiver
from tests.support.redis_process import RedisProcess, own_redis
from tests.support.worker import Worker, nothing_waits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# Far more than anything here takes, on a machine with a lot to do.
PATIENCE_SECONDS = 60


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisProcess]:
    with own_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def worker(own: RedisProcess, tmp_path: Path) -> Iterator[Worker]:
    """Start a worker on a Redis that nothing of this process wakes it through."""
    worker = Worker(tmp_path)
    worker.start(REDIS_URL=own.url, NOTIFY_ALLOW_LOOPBACK="true")
    yield worker
    worker.kill()


def deliver(api: Api, receiver: Receiver) -> None:
    """Make an event for the receiver, and wait until a worker has sent it."""
    api.charge_source(api.source(redirect={"success": receiver.url, "fail": receiver.url, "notify": receiver.url}))
    assert Webhook.objects.exists()
    assert wait_until(nothing_waits, PATIENCE_SECONDS)


def test_webhooks_are_sent_while_redis_is_killed_stalled_and_replaced_and_the_worker_listens_again(
    worker: Worker, own: RedisProcess, api: Api, receiver: Receiver
) -> None:
    deliver(api, receiver)
    for _ in range(2):
        assert wait_until(own.has_listener, PATIENCE_SECONDS)
        own.stop()
        deliver(api, receiver)
        own.start()
        assert wait_until(own.has_listener, PATIENCE_SECONDS)
        own.program.pause()
        deliver(api, receiver)
        own.program.resume()
        assert wait_until(own.has_listener, PATIENCE_SECONDS)
    assert worker.program.is_running


def test_a_worker_survives_an_error_that_celery_does_not_expect(
    monkeypatch: pytest.MonkeyPatch, own: RedisProcess
) -> None:
    """As kombu raises it while Redis fails over."""
    begun = list[None]()

    def fail_first(*arguments: Any) -> None:
        begun.append(None)
        if len(begun) < 3:
            raise AttributeError("'NoneType' object has no attribute 'can_read'")
        asynloop(*arguments)

    asynloop = loops.asynloop
    monkeypatch.setattr(loops, "asynloop", fail_first)
    monkeypatch.setattr(app.conf, "broker_url", broker_url(own.url))
    with start_worker(app, pool="threads", perform_ping_check=False):
        assert wait_until(own.has_listener, PATIENCE_SECONDS)
    assert len(begun) == 3


def test_an_idle_worker_logs_next_to_nothing(worker: Worker, own: RedisProcess) -> None:
    assert wait_until(own.has_listener, PATIENCE_SECONDS)
    assert wait_until(lambda: Sweep.objects.filter(worked_at__isnull=False).count() == len(SWEEPS), PATIENCE_SECONDS)
    started = len(lines_of(worker))
    time.sleep(30)  # Every sweep is due a few times.
    assert len(lines_of(worker)) <= started + 1, lines_of(worker)[started:]


def lines_of(worker: Worker) -> list[str]:
    return worker.program.output.splitlines()


def test_a_worker_starts_and_sweeps_without_redis(
    own: RedisProcess, api: Api, receiver: Receiver, tmp_path: Path
) -> None:
    own.stop()
    worker = Worker(tmp_path)
    worker.start(REDIS_URL=own.url, NOTIFY_ALLOW_LOOPBACK="true")
    try:
        deliver(api, receiver)
        own.start()
        assert wait_until(own.has_listener, PATIENCE_SECONDS)
    finally:
        worker.kill()


def test_a_worker_that_is_asked_to_stop_ends_while_redis_is_away(
    worker: Worker, own: RedisProcess, api: Api, receiver: Receiver
) -> None:
    deliver(api, receiver)
    own.stop()
    worker.program.send(signal.SIGTERM)
    assert worker.program.wait() == os.EX_OK
