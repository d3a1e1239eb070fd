"""The timer on real threads: bounds, results, and a good end."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from payments.embedded.processes import wait_until
from payments.models import Sweep, WorkerProcess
from payments.sweeps import timer
from payments.sweeps.table import SWEEPS
from payments.sweeps.timer import Timer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

THREADS, PATIENCE_SECONDS = 8, 30


class Runs:
    """Sweeps that end when they are allowed to, and how many of each ran at once at most."""

    def __init__(self) -> None:
        self.may_end, self._lock = threading.Event(), threading.Lock()
        self._running, self.most, self.count = Counter[str](), Counter[str](), 0

    def run(self, name: str) -> str:
        with self._lock:
            self.count += 1
            self._running[name] += 1
            self.most[name] = max(self.most[name], self._running[name])
            self.most["all"] = max(self.most["all"], self._running.total())
        self.may_end.wait(PATIENCE_SECONDS)
        with self._lock:
            self._running[name] -= 1
        return "ValueError" if name == "send_messages" else ""


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def started(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Timer]:
    monkeypatch.setattr(timer, "TICK_SECONDS", 0.05)
    with ThreadPoolExecutor(THREADS) as threads:
        started = Timer(threads.submit, runs.run, THREADS)
        started.start()
        yield started
        runs.may_end.set()
        started.stop()


def test_no_more_sweeps_run_at_once_than_there_are_threads_and_of_each_than_it_may(started: Timer, runs: Runs) -> None:
    assert wait_until(lambda: runs.most["all"] == THREADS, PATIENCE_SECONDS)
    # Shared ones are due again meanwhile.
    time.sleep(2.5)
    assert runs.most["all"] == THREADS
    assert all(runs.most[name] <= schedule.at_once for name, schedule in SWEEPS.items())


def test_results_are_recorded_with_the_class_of_an_error(started: Timer, runs: Runs) -> None:
    runs.may_end.set()
    assert wait_until(lambda: Sweep.objects.filter(finished_at__isnull=False).count() == len(SWEEPS), PATIENCE_SECONDS)
    assert Sweep.objects.get(name="send_messages").error == "ValueError"
    assert Sweep.objects.get(name="send_messages").worked_at is None
    assert Sweep.objects.get(name="settle_due").worked_at is not None


def test_a_timer_that_stops_waits_for_what_runs_records_it_and_begins_nothing_else(started: Timer, runs: Runs) -> None:
    assert wait_until(lambda: runs.most["all"] == THREADS, PATIENCE_SECONDS)
    begun = runs.count
    stopping = threading.Thread(target=started.stop)
    stopping.start()
    time.sleep(0.2)  # A few ticks, in which something could begin.
    runs.may_end.set()
    stopping.join(PATIENCE_SECONDS)
    assert runs.count == begun == Sweep.objects.filter(finished_at__isnull=False).count()
    assert WorkerProcess.objects.get(pk=started.id).ended_at is not None
