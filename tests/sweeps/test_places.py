"""Sweeps that ask providers leave threads of the worker to others, however slow the providers are."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from payments.domain.approvals import execution
from payments.sweeps.table import ASKING_AT_ONCE
from payments.tasks import run_sweep

NAME = "execute_approved_actions"


def test_no_more_threads_run_a_sweep_than_there_are_places(monkeypatch: pytest.MonkeyPatch) -> None:
    running, over = Barrier(ASKING_AT_ONCE + 1), Event()

    def ask() -> int:
        running.wait(10)
        over.wait(10)
        return 1

    monkeypatch.setattr(execution, "execute_left", ask)
    with ThreadPoolExecutor(ASKING_AT_ONCE) as threads:
        swept = [threads.submit(run_sweep, NAME) for _ in range(ASKING_AT_ONCE)]
        running.wait(10)
        assert run_sweep(NAME) == 0
        over.set()
        assert [each.result() for each in swept] == [1] * ASKING_AT_ONCE


def test_a_sweep_that_fails_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise ConnectionError

    monkeypatch.setattr(execution, "execute_left", fail)
    for _ in range(ASKING_AT_ONCE + 1):
        with pytest.raises(ConnectionError):
            run_sweep(NAME)
