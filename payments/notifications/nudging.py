"""Wakes a worker as soon as something is due, instead of at the next beat; nothing depends on it."""

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import cache

from celery import Celery

logger = logging.getLogger("kaha.notifications")

TASK = "payments.tasks.deliver_notifications"
# The worker that was woken looks again by itself, so that many nudges in a row say no more than one.
PAUSE_SECONDS = 0.1
PAUSE_AFTER_FAILURE_SECONDS = 1.0


class Nudger:
    """Calls `send` from a thread of its own, so that whoever nudges waits for Redis neither there nor away.

    Nudges that come while one is being sent become one.
    """

    def __init__(self, send: Callable[[], None]) -> None:
        self._send = send
        self._process = 0
        self._wanted = threading.Event()

    def nudge(self) -> None:
        """Returns at once and never fails."""
        # Threads do not survive a fork. Two threads that come here together leave one that does nothing.
        if self._process != os.getpid():
            self._process, self._wanted = os.getpid(), threading.Event()
            threading.Thread(target=self._run, args=[self._wanted], name="nudger", daemon=True).start()
        self._wanted.set()

    def _run(self, wanted: threading.Event) -> None:
        while wanted.wait():
            wanted.clear()
            time.sleep(PAUSE_SECONDS if self._sent() else PAUSE_AFTER_FAILURE_SECONDS)

    def _sent(self) -> bool:
        try:
            self._send()
        except Exception:
            logger.warning("no worker could be woken", exc_info=True)
            return False
        return True


@cache
def _producer() -> Celery:
    """Web processes have no worker's application, and this one does not become the current one of a worker."""
    producer = Celery("kaha-nudger", set_as_current=False)
    producer.config_from_object("django.conf:settings", namespace="CELERY")
    return producer


def _send_task() -> None:
    _producer().send_task(TASK, retry=False)


nudge = Nudger(_send_task).nudge
