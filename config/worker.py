"""What the worker does besides Celery's own: its sweeps run by a timer, and no failure of Redis ends it."""

import logging
from time import sleep
from typing import Any

from celery import Celery, bootsteps
from celery.concurrency.thread import TaskPool
from celery.worker.consumer import Consumer
from django.conf import settings
from django.db import connection

from payments.concurrency.connections import release_connection
from payments.health.metrics import server
from payments.metrics import counters, samples
from payments.sweeps.timer import Timer
from payments.webhooks.wake_up import TASK
from payments.webhooks.worker import DELIVERER

logger = logging.getLogger("kaha.worker")

PAUSE_SECONDS = 1.0


class ReconnectingConsumer(Consumer):
    """Celery's consumer of messages, which connects again after any error.

    Celery does so after the errors that its client declares; after others, such as an AttributeError of kombu while
    Redis fails over, the worker would end. A request to stop is no Exception, and ends it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.connection_errors = (Exception,)

    def start(self) -> None:
        while True:
            try:
                super().start()
            except Exception:
                # An error while it was cleaning up after the first one.
                logger.exception("The worker connects to Redis again after an unexpected error.")
                sleep(PAUSE_SECONDS)
                self.connection = None
                self.blueprint.restart(self)
            else:
                return


class SweepTimer(bootsteps.StartStopStep):
    """Runs the timer while the worker runs; begins before the consumer, and waits for no Redis."""

    requires = ("celery.worker.components:Pool",)
    timer: Timer | None = None

    def include_if(self, worker: Any) -> bool:
        # Sweeps wait for providers and receivers, so they need threads.
        return issubclass(worker.pool_cls, TaskPool)

    def start(self, worker: Any) -> None:
        self.timer = Timer(worker.pool.executor.submit, lambda name: run_sweep(worker.app, name), worker.concurrency)
        self.timer.start()
        serve_metrics(self.timer, worker.concurrency)

    def stop(self, worker: Any) -> None:
        if self.timer:
            self.timer.stop()

    def terminate(self, worker: Any) -> None:
        if self.timer:
            self.timer.stop_claiming()


def serve_metrics(timer: Timer, threads: int) -> None:
    """Answer Prometheus at METRICS_ADDRESS. A worker that cannot listen there works all the same."""
    if not settings.METRICS_ADDRESS:
        return
    samples.start(
        {
            **samples.of_connections(connection),
            counters.THREADS: lambda: threads,
            counters.THREADS_IN_USE: lambda: timer.busy,
            counters.RECEIVERS_SLOW: lambda: DELIVERER.slow_receivers,
        }
    )
    try:
        server.serve(settings.METRICS_ADDRESS)
    except OSError as error:
        logger.error("Nothing can listen at METRICS_ADDRESS.", extra={"why": error.strerror})  # noqa: TRY400


def run_sweep(app: Celery, name: str) -> str:
    """Run a sweep as a task in this thread; return the class of its error, "" if it worked."""
    try:
        result = app.tasks[TASK].apply((name,))
        return "" if result.successful() else type(result.result).__name__
    finally:
        release_connection()
