"""Sweeps that ask providers leave threads of the worker to others, however slow the providers are."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from payments.sweeps.at_once import at_most


def test_no_more_sweeps_run_at_once_than_there_are_places() -> None:
    running, over = Barrier(3), Event()

    @at_most(2)
    def sweep() -> int:
        running.wait(10)
        over.wait(10)
        return 1

    with ThreadPoolExecutor(2) as threads:
        swept = [threads.submit(sweep) for _ in range(2)]
        running.wait(10)
        assert sweep() == 0
        over.set()
        assert [each.result() for each in swept] == [1, 1]


def test_a_sweep_that_fails_gives_its_place_back() -> None:
    @at_most(1)
    def sweep() -> int:
        raise ConnectionError

    for _ in range(2):
        with pytest.raises(ConnectionError):
            sweep()
