"""Puts more than a second between the requests of a test, without a wait.

`uv run pytest -p tests.seconds_apart` finds tests that pass only while two requests share a second. With each request
the clock of the test's process goes further ahead of the database's; with each module it begins anew. Tests that start
or kill programs of their own are not for it, because these keep the real time.
"""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test.client import ClientHandler

from payments import clock

handle = ClientHandler.__call__
ahead: list[timedelta] = []


def now(zone: Any) -> datetime:
    return datetime.now(zone) + sum(ahead, timedelta())


def handle_later(handler: ClientHandler, environment: dict[str, Any]) -> Any:
    ahead.append(timedelta(seconds=1.1))
    return handle(handler, environment)


def pytest_configure() -> None:
    clock.datetime = SimpleNamespace(now=now, fromisoformat=datetime.fromisoformat)
    ClientHandler.__call__ = handle_later


@pytest.fixture(autouse=True, scope="module")
def _clock_of_the_module() -> None:
    ahead.clear()
