"""Tasks on a real worker, on real Redis, write one line each."""

import json
import logging
from collections.abc import Iterator
from io import StringIO

import pytest
from celery.contrib.testing.worker import start_worker
from django.conf import settings

from config.celery import app
from config.logs.task_log import RunningTasks
from payments.embedded.processes import wait_until
from payments.tasks import run_sweep


@pytest.fixture
def lines() -> Iterator[StringIO]:
    """Yield what the log of tasks says, through the formatter that production uses."""
    stream, logger = StringIO(), logging.getLogger("kaha.task")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.getLogger().handlers[0].formatter)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield stream
    logger.setLevel(logging.NOTSET)
    logger.removeHandler(handler)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_a_task_on_a_worker_writes_one_line_with_its_name_time_and_statements(lines: StringIO) -> None:
    assert settings.CELERY_BROKER_URL.startswith("redis")
    with start_worker(app, pool="solo", perform_ping_check=False):
        run_sweep.delay("clear_sessions")
        assert wait_until(lambda: "clear_sessions" in lines.getvalue(), 10)
    # Other tests may have left tasks for a worker.
    logged = [json.loads(text) for text in lines.getvalue().splitlines()]
    [line] = [one for one in logged if one["task"] == "clear_sessions"]
    assert (line["state"], line["sql_count"]) == ("SUCCESS", 4)
    assert line["milliseconds"] > 0
    assert line["level"] == "DEBUG"


@pytest.mark.parametrize(
    ("state", "result", "level"),
    [("SUCCESS", 0, "DEBUG"), ("SUCCESS", None, "DEBUG"), ("SUCCESS", 2, "INFO"), ("FAILURE", ValueError("x"), "INFO")],
)
def test_only_a_task_that_found_nothing_to_do_is_below_info(
    lines: StringIO, state: str, result: object, level: str
) -> None:
    running = RunningTasks()
    running.begin("1")
    running.end("1", run_sweep, ["clear_sessions"], state, result)
    assert json.loads(lines.getvalue())["level"] == level
