"""A real web server and a real worker with metrics, and what a scrape of each returns."""

import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoDbBlocker

from payments.quickstart.ports import HOST
from tests.support.processes import PATIENCE_SECONDS, free_port, listens
from tests.support.web import managed_web
from tests.support.worker import Worker

Families = dict[str, Metric]


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
    metrics_port = free_port()
    with managed_web(folder, **{"METRICS_ADDRESS": f"{HOST}:{metrics_port}"} | environment) as (port, program):
        yield Server(port, metrics_port, program.pid)


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: Any) -> Iterator[Server]:
    """Yield a server behind a proxy that waits for no body for long and shows each address one page."""
    limits = {"REQUEST_BODY_SECONDS": "3", "RATE_LIMIT_ANONYMOUS": "1/year", "TRUSTED_PROXIES": "1"}
    with django_db_blocker.unblock(), web(tmp_path_factory.mktemp("web"), **limits) as server:
        yield server


@pytest.fixture
def worker_scrape(db: None, tmp_path: Path) -> Iterator[Callable[[], Families]]:
    """Start a worker; return what scrapes it."""
    worker, port = Worker(tmp_path), free_port()
    worker.start(NOTIFY_ALLOW_LOOPBACK="true", METRICS_ADDRESS=f"{HOST}:{port}")
    worker.program.wait_until(lambda: listens(port))
    yield lambda: scrape(port)
    worker.kill()


def value(families: Families, name: str, **labels: str) -> float:
    """Return the sum of the samples with this name and at least these labels."""
    samples = [sample for family in families.values() for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())
