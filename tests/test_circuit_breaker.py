"""The circuit breaker of a server: open until a probe works, with one probe at a time."""

import threading
from threading import Event

from payments.concurrency.circuit_breaker import CircuitBreaker
from payments.embedded.processes import wait_until


def test_one_probe_at_a_time_closes_it() -> None:
    breaker, answer, probed = CircuitBreaker("It", 0), Event(), list[str]()

    def probe() -> None:
        probed.append("probed")
        assert answer.wait(10)

    assert breaker.open(probe)
    # All others that fail at the same moment start none.
    assert [breaker.open(probe) for _ in range(3)] == [False] * 3
    assert wait_until(lambda: bool(probed), 10)
    assert breaker.is_open
    answer.set()
    assert wait_until(lambda: not breaker.is_open, 10)
    assert probed == ["probed"]


def test_a_probe_that_fails_keeps_it_open() -> None:
    breaker, seen = CircuitBreaker("It", 0), list[bool]()

    def probe() -> None:
        seen.append(breaker.is_open)
        if len(seen) < 3:
            raise OSError

    breaker.open(probe)
    assert wait_until(lambda: not breaker.is_open, 10)
    assert seen == [True] * 3


def test_its_thread_ends_when_it_is_closed_by_hand() -> None:
    breaker, asked = CircuitBreaker("It", 0.01), Event()

    def probe() -> None:
        asked.set()
        raise OSError

    before = set(threading.enumerate())
    breaker.open(probe)
    [probing] = set(threading.enumerate()) - before
    assert asked.wait(10)
    assert breaker.is_open
    breaker.close()
    probing.join(10)
    assert (probing.is_alive(), breaker.is_open) == (False, False)
