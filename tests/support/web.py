"""kaha's web servers on free ports of loopback: granian by itself, and `manage.py web`."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from payments.embedded.folders import PROJECT
from payments.quickstart.ports import HOST, answers, claim
from payments.web.server import CONNECTIONS, DRAIN_SECONDS, HEADER_MILLISECONDS, PROCESSES
from tests.high_limits import MANY_DECLINES_TEXT
from tests.support.processes import Program, free_port, running
from tests.support.worker import database_url

TARGET = "config.asgi:application"


@contextmanager
def web_server(folder: Path, workers: int = PROCESSES) -> Iterator[str]:
    """Serve the database that this process is connected to until the block ends; yield the URL."""
    with web_process(folder, workers=workers) as (url, _):
        yield url


@contextmanager
def web_process(
    folder: Path,
    header_milliseconds: int = HEADER_MILLISECONDS,
    workers: int = PROCESSES,
    target: str = TARGET,
    at_port: int = 0,
    code: Path = PROJECT,
    **environment: str,
) -> Iterator[tuple[str, int]]:
    """Serve with an `environment` on top of ours; yield the URL and the ID of the process that started the others.

    `code` is the folder of the version that serves.
    """
    with claim(at_port) as claimed:
        port = claimed.getsockname()[1]
        url = f"http://{HOST}:{port}"
        size = ["--workers", workers, "--backlog", CONNECTIONS, "--backpressure", CONNECTIONS]
        http = ["--http", "1", "--no-ws", "--http1-header-read-timeout", header_milliseconds]
        granian = [sys.executable, "-m", "granian", "--interface", "asgi", *http, *size, "--host", HOST, "--port", port]
        rate = "100000/second"
        limits = {"RATE_LIMIT": rate, "RATE_LIMIT_ANONYMOUS": rate, "DECLINE_LIMITS_TEST": MANY_DECLINES_TEXT}
        own = {"WEB_DRAIN_SECONDS": "0", "PUBLIC_URL": url, **limits, **environment}
        with _serving([*granian, target], port, folder, own, code=code) as program:
            yield url, program.pid


@contextmanager
def managed_web(folder: Path, **environment: str) -> Iterator[tuple[int, Program]]:
    """Serve as `manage.py web` does, with two processes; yield the port when both serve.

    granian loses a SIGTERM for a process that only starts, and kills it when the time to end is over.
    """
    port = free_port()
    command = [sys.executable, "manage.py", "web", "--port", port]
    own = {"TMPDIR": str(folder), **environment}
    # What a server that is killed leaves is none of its own doing.
    with _serving(command, port, folder, own, stop_seconds=DRAIN_SECONDS + 30) as program:
        program.wait_until(lambda: program.errors.count("Started worker-") == PROCESSES)
        yield port, program


@contextmanager
def _serving(
    command: list[object], port: int, folder: Path, own: dict[str, str], stop_seconds: float = 5, code: Path = PROJECT
) -> Iterator[Program]:
    environment = os.environ | {"DATABASE_URL": database_url(), **own}
    ends = {"death_signal": signal.SIGTERM, "stop_seconds": stop_seconds, "cwd": code}
    with running(command, log=folder / "web.log", ready=lambda: answers(port), environment=environment, **ends) as web:
        yield web
