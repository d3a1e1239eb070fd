"""CPU time, of processes that use some."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory

from tests.benchmark.figures import cpu_seconds, memory_mb
from tests.support.processes import running

BUSY = "import time\nwhile time.process_time() < 0.1: pass"
SAY_SO_AND_WAIT = "print(flush=True)\ninput()"


@contextmanager
def shell_that_runs(code: str, then: str = "true") -> Iterator[int]:
    """Yield the process ID of a shell that runs Python below it, and `then` something of its own, once one says so."""
    shell = ["sh", "-c", f'"$@"; {then}', "sh", sys.executable, "-c", code]
    with TemporaryDirectory() as folder, running(shell, log=Path(folder) / "log", ready=r"\n", stdin=PIPE) as program:
        yield program.pid


def test_the_time_of_what_a_process_has_started_and_ended_is_its_own() -> None:
    with shell_that_runs(BUSY, then="echo; read line") as pid:
        assert cpu_seconds(pid) >= 0.09


def test_the_time_of_what_still_runs_below_it_is_its_own() -> None:
    with shell_that_runs(f"{BUSY}\n{SAY_SO_AND_WAIT}") as pid:
        assert cpu_seconds(pid) >= 0.09


def test_the_memory_of_several_is_that_of_the_largest() -> None:
    with shell_that_runs(f'held = b"x" * 100_000_000\n{SAY_SO_AND_WAIT}') as pid:
        assert memory_mb(pid) >= 90
