"""One log line per task that did something, as `config.http.request_line` writes one per request."""

import logging
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from celery import states
from celery.signals import task_postrun, task_prerun

from config.http.request_line import Statements
from payments.sweeps.table import SWEEPS

logger = logging.getLogger("kaha.task")


class RunningTasks:
    """The running tasks of this process, by ID: their start and the count of their SQL statements."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[float, Statements, ExitStack]] = {}

    def begin(self, task_id: str, **_: Any) -> None:
        statements, stack = Statements(), ExitStack()
        stack.enter_context(statements)
        self._running[task_id] = (time.perf_counter(), statements, stack)

    def end(self, task_id: str, task: Any, args: Sequence[Any], state: str, retval: Any, **_: Any) -> None:
        """Log the line, with the name of the sweep; below INFO for a task that found nothing to do."""
        started, statements, stack = self._running.pop(task_id)
        stack.close()
        facts = {
            "task": args[0] if args and args[0] in SWEEPS else task.name,
            "task_id": task_id,
            "state": state,
            "result": retval if isinstance(retval, int) else None,
            "milliseconds": round((time.perf_counter() - started) * 1000, 2),
            "sql_count": statements.count,
        }
        logger.log(logging.INFO if retval or state != states.SUCCESS else logging.DEBUG, "task", extra=facts)


def connect() -> None:
    """Connect the log to all tasks of this process."""
    running = RunningTasks()
    task_prerun.connect(running.begin, weak=False)
    task_postrun.connect(running.end, weak=False)
