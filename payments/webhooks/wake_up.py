"""Wakes a worker as soon as something is due, instead of at the next tick of its timer; nothing depends on it."""

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.conf import settings

from payments.failpoints import Failpoint, reached

if TYPE_CHECKING:
    from celery import Celery

logger = logging.getLogger("kaha.webhooks")

TASK = "payments.tasks.run_sweep"
# The worker that was woken looks again by itself, so that many nudges in a row say no more than one.
PAUSE_SECONDS = 0.1
# One that delivers webhooks does so until nothing was due for longer than its senders pause.
WEBHOOKS_PAUSE_SECONDS = 0.5
AWAKE_SECONDS = 0.6
PAUSE_AFTER_FAILURE_SECONDS = 1.0
TIMEOUT_SECONDS = 2.0
# Without a worker the queue would grow by hundreds of megabytes a day; a worker that is this far behind is awake.
MOST_WAITING = 100


class BackgroundCall:
    """Calls `send` from a thread of its own, so that the caller never waits for Redis.

    Nudges that come while one is being sent, or within `pause_seconds` after it, become one.
    """

    def __init__(self, send: Callable[[], None], pause_seconds: float = PAUSE_SECONDS) -> None:
        self._send = send
        self._pause_seconds = pause_seconds
        self._process = 0
        self._wanted = threading.Event()

    def wake_worker(self) -> None:
        """Wake a worker; return at once and never fail."""
        reached(Failpoint.WAKING_WORKER)
        # Threads do not survive a fork. Two threads that come here together leave one that does nothing.
        if self._process != os.getpid():
            self._process, self._wanted = os.getpid(), threading.Event()
            threading.Thread(target=self._run, args=[self._wanted], name="nudger", daemon=True).start()
        self._wanted.set()

    def _run(self, wanted: threading.Event) -> None:
        while wanted.wait():
            wanted.clear()
            time.sleep(self._pause_seconds if self._sent() else PAUSE_AFTER_FAILURE_SECONDS)

    def _sent(self) -> bool:
        try:
            self._send()
        except Exception:
            logger.warning("no worker could be woken", exc_info=True)
            return False
        return True


class TaskSender:
    """Asks for a sweep by its name, through the broker at `broker_url`. Calls raise whatever keeps it from that.

    While MOST_WAITING messages wait in the queue, a call sends none.
    """

    def __init__(self, broker_url: str, sweep: str = "deliver_webhooks") -> None:
        self._broker_url = broker_url
        self._sweep = sweep

    def __call__(self) -> None:
        # A pool of connections, whatever the package of types says.
        pool: Any = self._producer.pool
        with pool.acquire(block=True) as connection:
            queue = connection.default_channel.queue_declare(self._producer.conf.task_default_queue)
            if queue.message_count < MOST_WAITING:
                self._producer.send_task(TASK, [self._sweep], connection=connection, retry=False)

    @cached_property
    def _producer(self) -> "Celery":
        # Only now, for a web process starts faster without it; and not the current one, for a worker has its own.
        from celery import Celery

        producer = Celery("kaha-wake-up", broker=self._broker_url, set_as_current=False)
        # The next call is a better time to try again than any that the broker client would wait for. A Redis that hangs
        # must not hold the thread for ever, because no worker would be woken when it is back.
        waits = {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
        own = {"max_retries": 0, **waits}
        producer.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS | own
        return producer


wake_worker = BackgroundCall(TaskSender(settings.CELERY_BROKER_URL), WEBHOOKS_PAUSE_SECONDS).wake_worker
