"""Races with real threads on real connections, and processes that end where nothing expects it."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TypeVar

from django.db import connection
from django.http import HttpResponse

from payments import failpoints
from payments.failpoints import Failpoint

Result = TypeVar("Result")


def at_once(count: int, do: Callable[[int], Result]) -> list[Result]:
    """Return what `do` returns to each of `count` threads that start together."""
    barrier = Barrier(count)

    def run(number: int) -> Result:
        barrier.wait()
        try:
            return do(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


@contextmanager
def in_background(do: Callable[[], Result]) -> Iterator["Future[Result]"]:
    """Do something on a thread of its own meanwhile; yield its future, which is done after the block."""

    def run() -> Result:
        try:
            return do()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        yield threads.submit(run)


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Have another session hold a table in the block, for which this thread's waits a moment alone."""
    busy = connection.copy()
    busy.set_autocommit(False)
    try:
        with busy.cursor() as theirs, connection.cursor() as ours:
            theirs.execute(f"LOCK TABLE {table}")
            ours.execute("SET lock_timeout = '50ms'")
            yield
            ours.execute("SET lock_timeout = '5s'")
    finally:
        busy.close()


def await_a_waiting_session() -> None:
    """Return when another session of this database waits for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with connection.cursor() as cursor:
        found = 0
        while not found:
            # Within a transaction the statistics are read once.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(waiting)
            [[found]] = cursor.fetchall()


def statuses(responses: list[HttpResponse]) -> Counter[int]:
    """Return how many of the responses have each status."""
    return Counter(response.status_code for response in responses)


class Crash(BaseException):
    """The end of a process, which nothing handles."""


@contextmanager
def crashing(step: Failpoint | None) -> Iterator[None]:
    """End what runs in the block at `step`, as if its process was killed there."""
    crashed = list[Failpoint]()

    def listener(reached: Failpoint) -> None:
        if reached is step:
            crashed.append(reached)
            raise Crash

    failpoints.listen(listener)
    try:
        yield
    except BaseException:
        if not crashed:
            raise
    finally:
        failpoints.listen(None)
