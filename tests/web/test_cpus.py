"""The CPUs on which the processes of `manage.py web` run."""

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from payments.embedded.processes import wait_until
from payments.web.server import Cpus
from tests.metrics.conftest import Server, web

TIMEOUT_SECONDS = 30
AVAILABLE = sorted(os.sched_getaffinity(0))
TWO = set(AVAILABLE[:2])


@pytest.fixture
def two_cpus() -> Iterator[None]:
    """Have what is started here run on two CPUs, or on the only one."""
    os.sched_setaffinity(0, TWO)
    yield
    os.sched_setaffinity(0, AVAILABLE)


def cpus_of_threads(pid: int) -> set[frozenset[int]]:
    return {frozenset(os.sched_getaffinity(thread.id)) for thread in psutil.Process(pid).threads()}


def processes(server: Server) -> list[int]:
    """Return the processes that answer requests, which have threads."""
    return [child.pid for child in psutil.Process(server.pid).children() if child.num_threads() > 1]


def cpu_of_each_process(server: Server) -> list[set[frozenset[int]]]:
    return sorted((cpus_of_threads(pid) for pid in processes(server)), key=str)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_each_of_two_processes_has_one_of_two_cpus_and_so_has_the_one_that_replaces_it(
    two_cpus: None, tmp_path: Path
) -> None:
    one_each = sorted(({frozenset({cpu})} for cpu in [*TWO, *TWO][:2]), key=str)
    with web(tmp_path) as server:
        assert wait_until(lambda: cpu_of_each_process(server) == one_each, TIMEOUT_SECONDS)
        ended = processes(server)[0]
        psutil.Process(ended).kill()
        assert wait_until(
            lambda: ended not in processes(server) and cpu_of_each_process(server) == one_each, TIMEOUT_SECONDS
        )


def bound(cpus: Cpus) -> set[int]:
    """Return the CPUs of a process that is forked and bound."""
    fork = multiprocessing.get_context("fork")
    result = fork.SimpleQueue()

    def bind() -> None:
        cpus.bind()
        result.put(os.sched_getaffinity(0))

    process = fork.Process(target=bind)
    process.start()
    process.join()
    return result.get()


def test_processes_that_cannot_be_equally_many_on_each_cpu_run_on_all() -> None:
    assert bound(Cpus(len(AVAILABLE) + 1)) == set(AVAILABLE) or len(AVAILABLE) == 1
