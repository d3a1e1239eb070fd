"""Records the trace of each run of a sweep that is sampled, whether the timer or a message from Redis began it."""

from collections.abc import Sequence
from contextlib import ExitStack
from contextvars import Token
from typing import Any

from celery import states
from celery.signals import task_postrun, task_prerun
from django.conf import settings
from django.db import connection

from payments.traces import sweeps
from payments.traces.sweeps import SweepSpans


class TracedSweeps:
    """The sampled runs of this process, by the ID of their task."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[SweepSpans, Token[SweepSpans | None], ExitStack]] = {}

    def begin(self, task_id: str, args: Sequence[Any], **_: Any) -> None:
        run = sweeps.begin(args[0]) if args else None
        if run is None:
            return
        stack = ExitStack()
        stack.enter_context(connection.execute_wrapper(run.statements))
        self._running[task_id] = run, sweeps.under_way.set(run), stack

    def end(self, task_id: str, state: str, retval: Any, **_: Any) -> None:
        if task_id not in self._running:
            return
        run, token, stack = self._running.pop(task_id)
        stack.close()
        sweeps.under_way.reset(token)
        if state == states.SUCCESS:
            run.end(retval, "")
        else:
            run.end(None, type(retval).__name__)


def connect() -> None:
    """Connect to all tasks of this process, if traces are exported."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        traced = TracedSweeps()
        task_prerun.connect(traced.begin, weak=False)
        task_postrun.connect(traced.end, weak=False)
