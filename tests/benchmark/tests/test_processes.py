"""CPU time, of processes that use some."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.benchmark.figures import cpu_seconds, memory_mb

BUSY = "import time\nwhile time.process_time() < 0.1: pass"
SAY_SO_AND_WAIT = "print(flush=True)\ninput()"


@contextmanager
def shell_that_runs(code: str, then: str = "true") -> Iterator[int]:
    """Yield the process ID of a shell that runs Python below it, and `then` something of its own, once one says so."""
    shell = ["sh", "-c", f'"$@"; {then}', "sh", sys.executable, "-c", code]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout
        running.stdout.readline()
        yield running.pid
        running.communicate(b"\n")


def test_the_time_of_what_a_process_has_started_and_ended_is_its_own() -> None:
    with shell_that_runs(BUSY, then="echo; read line") as pid:
        assert cpu_seconds(pid) >= 0.09


def test_the_time_of_what_still_runs_below_it_is_its_own() -> None:
    with shell_that_runs(f"{BUSY}\n{SAY_SO_AND_WAIT}") as pid:
        assert cpu_seconds(pid) >= 0.09


def test_the_memory_of_several_is_that_of_the_largest() -> None:
    with shell_that_runs(f'held = b"x" * 100_000_000\n{SAY_SO_AND_WAIT}') as pid:
        assert memory_mb(pid) >= 90
