"""kaha's web server as an operator starts it: granian with processes of its own, on a free port of loopback."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from payments.embedded.folders import PROJECT
from payments.embedded.processes import spawn, stop, wait_until
from payments.quickstart.ports import HOST, answers, claim
from payments.web.server import CONNECTIONS, HEADER_MILLISECONDS, PROCESSES
from tests.figures.servers.worker import database_url
from tests.high_limits import MANY_DECLINES_TEXT

START_TIMEOUT_SECONDS = 60
TARGET = "config.asgi:application"


@contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """Serve the database that this process is connected to until the block ends; yield the URL."""
    with web_process(folder) as (url, _):
        yield url


@contextmanager
def web_process(
    folder: Path,
    header_milliseconds: int = HEADER_MILLISECONDS,
    workers: int = PROCESSES,
    target: str = TARGET,
    at_port: int = 0,
    **environment: str,
) -> Iterator[tuple[str, int]]:
    """Serve with an `environment` on top of ours; yield the URL and the ID of the process that started the others."""
    with claim(at_port) as claimed:
        port = claimed.getsockname()[1]
        url = f"http://{HOST}:{port}"
        size = ["--workers", workers, "--backlog", CONNECTIONS, "--backpressure", CONNECTIONS]
        http = ["--http", "1", "--no-ws", "--http1-header-read-timeout", header_milliseconds]
        place = ["--host", HOST, "--port", port]
        granian = [sys.executable, "-m", "granian", "--interface", "asgi"]
        command = [*granian, *http, *size, *place, target]
        rate = "100000/second"
        limits = {"RATE_LIMIT": rate, "RATE_LIMIT_ANONYMOUS": rate, "DECLINE_LIMITS_TEST": MANY_DECLINES_TEXT}
        own = {"WEB_DRAIN_SECONDS": "0", "DATABASE_URL": database_url(), "PUBLIC_URL": url, **limits, **environment}
        process = spawn(
            [str(part) for part in command],
            log=folder / "web.log",
            environment=os.environ | own,
            cwd=PROJECT,
            death_signal=signal.SIGTERM,
        )
        try:
            assert wait_until(lambda: answers(port), START_TIMEOUT_SECONDS), (folder / "web.log").read_text()
            yield url, process.pid
        finally:
            stop(process, timeout_seconds=5)
