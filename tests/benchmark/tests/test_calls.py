"""What is counted of a piece of work, what the gate makes of it, and the CPU time of processes that use some."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory

from tests.benchmark.calls.__main__ import lowest, rises
from tests.benchmark.calls.counts import COUNTED, WARM, counted, total
from tests.benchmark.figures import cpu_seconds, memory_mb
from tests.support.processes import running

COUNT = {"python": 1000, "c": 500, "statements": 2, "log_bytes": 900}


def nothing() -> None: ...


def work(times: int) -> Callable[[], None]:
    """Return what calls one function of Python and one of C so many times."""

    def act() -> None:
        for _ in range(times):
            nothing()
            ord("a")

    return act


def test_calls_of_python_and_of_c_are_counted_by_function() -> None:
    count = counted([work(5)] * (WARM + COUNTED), lambda: 0)
    functions = count.functions
    assert (functions["tests/benchmark/tests/test_calls.py:nothing"], functions["C:ord"]) == (5, 5)
    # The function itself, and what ends the count.
    assert (count.python, count.c - functions["C:setprofile"]) == (6, 5)


def test_a_count_is_the_median_of_what_follows_the_warm_ones() -> None:
    assert counted([work(times) for times in (90, 1, 2, 70)], lambda: 0, warm=1).python == 3


def test_nothing_is_left_that_counts() -> None:
    counted([work(1)], lambda: 0, warm=0)
    assert sys.getprofile() is None


def test_what_is_written_to_the_log_is_between_two_looks() -> None:
    position = iter((100, 130, 200, 240))
    assert counted([work(1)] * 2, lambda: next(position), warm=1).log_bytes == 40


def test_a_sum_takes_each_as_often_as_it_runs() -> None:
    one = counted([work(3)], lambda: 0, warm=0)
    assert total([(one, 2), (one, 0.5)]).python == 10


def test_one_in_a_hundred_more_is_let_through_and_more_is_not() -> None:
    found = COUNT | {"python": 1011, "c": 507}
    assert rises({"charge": COUNT}, {"charge": found}) == [("charge", "c", 500, 507)]


def test_every_statement_more_is_a_rise() -> None:
    assert rises({"charge": COUNT}, {"charge": COUNT | {"statements": 3}}) == [("charge", "statements", 2, 3)]


def test_what_fell_is_kept_and_what_rose_a_little_is_not() -> None:
    found = {"charge": COUNT | {"python": 1005, "c": 400}, "new": COUNT}
    assert lowest({"charge": COUNT}, found) == {"charge": COUNT | {"c": 400}, "new": COUNT}


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
