"""A real web server, and how its settings are changed for a test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.web import web_process
from tests.web.busy import Busy, busy_server

Serve = Callable[..., int]
# What one process does is tested; each takes more than a second to start.
ONE_PROCESS: dict[str, Any] = {"workers": 1}
ServeWithPid = Callable[..., tuple[int, int]]
ServeBusy = Callable[..., Busy]


@pytest.fixture
def serve_with_pid(db: None, tmp_path: Path) -> Iterator[ServeWithPid]:
    """Start a web server with these settings; return its port and process ID."""
    with ExitStack() as stack:

        def start(**settings: Any) -> tuple[int, int]:
            url, pid = stack.enter_context(web_process(tmp_path, **ONE_PROCESS | settings))
            return int(url.rpartition(":")[2]), pid

        yield start


@pytest.fixture(scope="module")
def shared_serve(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[Serve]:
    """Yield `serve` for a whole module, whose tests must not make cards: its data keys are gone after the first."""
    with ExitStack() as stack, django_db_blocker.unblock():

        def start(**settings: Any) -> int:
            url, _ = stack.enter_context(web_process(tmp_path_factory.mktemp("web"), **ONE_PROCESS | settings))
            return int(url.rpartition(":")[2])

        yield start


@pytest.fixture(scope="package")
def port(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[int]:
    """Yield a server with the usual settings for the whole folder, whose tests make no cards there either."""
    folder = tmp_path_factory.mktemp("web")
    with django_db_blocker.unblock(), web_process(folder, **ONE_PROCESS) as (url, _):
        yield int(url.rpartition(":")[2])


@pytest.fixture(scope="module")
def serve_busy(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[ServeBusy]:
    """Yield `busy_server` for a whole module, as `shared_serve` is."""
    with ExitStack() as stack, django_db_blocker.unblock():
        yield lambda **settings: stack.enter_context(busy_server(tmp_path_factory.mktemp("web"), **settings))


@pytest.fixture
def serve(serve_with_pid: ServeWithPid) -> Serve:
    """Start a web server with these settings; return its port."""
    return lambda **settings: serve_with_pid(**settings)[0]
