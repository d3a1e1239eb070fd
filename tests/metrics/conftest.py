"""A real web server and a real worker with metrics, and what a scrape of each returns."""

import os
import signal
import socket
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from payments.embedded.folders import PROJECT
from payments.embedded.processes import spawn, stop, wait_until
from payments.quickstart.ports import HOST, answers, claim
from tests.figures.servers.receiver import Receiver
from tests.figures.servers.worker import Worker, database_url

PATIENCE_SECONDS = 60
Families = dict[str, Metric]


def free_port() -> int:
    with claim(0) as claimed:
        port: int = claimed.getsockname()[1]
    return port


def scrape(port: int) -> Families:
    """Return the families of metrics by name."""
    with urllib.request.urlopen(f"http://{HOST}:{port}/metrics", timeout=PATIENCE_SECONDS) as answer:
        return {family.name: family for family in text_string_to_metric_families(answer.read().decode())}


class Server:
    """A web server of two processes, started by `manage.py web`."""

    def __init__(self, port: int, metrics_port: int, pid: int) -> None:
        self.port, self.metrics_port, self.pid = port, metrics_port, pid

    def scrape(self) -> Families:
        return scrape(self.metrics_port)


@contextmanager
def web(folder: Path, **environment: str) -> Iterator[Server]:
    port, metrics_port = free_port(), free_port()
    own = {"DATABASE_URL": database_url(), "METRICS_ADDRESS": f"{HOST}:{metrics_port}", "TMPDIR": str(folder)}
    process = spawn(
        [sys.executable, "manage.py", "web", "--port", str(port)],
        log=folder / "web.log",
        environment=os.environ | own | environment,
        cwd=PROJECT,
        death_signal=signal.SIGTERM,
    )
    try:
        assert wait_until(lambda: answers(port), PATIENCE_SECONDS), (folder / "web.log").read_text()
        yield Server(port, metrics_port, process.pid)
    finally:
        stop(process, timeout_seconds=20)


@pytest.fixture
def server(db: None, tmp_path: Path) -> Iterator[Server]:
    with web(tmp_path) as server:
        yield server


@pytest.fixture
def worker_scrape(db: None, tmp_path: Path) -> Iterator[Callable[[], Families]]:
    """Start a worker; return what scrapes it."""
    worker, port = Worker(tmp_path), free_port()
    worker.start(NOTIFY_ALLOW_LOOPBACK="true", METRICS_ADDRESS=f"{HOST}:{port}")
    assert wait_until(lambda: is_open(port), PATIENCE_SECONDS), worker.log.read_text()
    yield lambda: scrape(port)
    worker.kill()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def value(families: Families, name: str, **labels: str) -> float:
    """Return the sum of the samples with this name and at least these labels."""
    samples = [sample for family in families.values() for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())
