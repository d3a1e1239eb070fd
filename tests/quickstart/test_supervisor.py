"""The quickstart waits for what makes progress, however long it takes, and says so."""

import os
import signal
from collections.abc import Iterator
from itertools import count

import pytest

from payments.quickstart import supervisor
from payments.quickstart.supervisor import Failed, Supervisor, processor_ticks

POLLS = 5


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    """Return a supervisor to whom every wait is a long one."""
    monkeypatch.setattr(supervisor, "IDLE_SECONDS", 0)
    monkeypatch.setattr(supervisor, "SLOW_SECONDS", 0)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield Supervisor()
    for number, handler in before.items():
        signal.signal(number, handler)


def test_what_makes_progress_is_waited_for_with_a_word(watcher: Supervisor, capsys: pytest.CaptureFixture[str]) -> None:
    polls = iter(range(POLLS))
    watcher.wait_for("the database", lambda: next(polls) == POLLS - 1, count().__next__)
    assert capsys.readouterr().err == "kaha: the database takes longer than usual. Still waiting.\n"


def test_what_makes_none_is_given_up(watcher: Supervisor) -> None:
    with pytest.raises(Failed, match="the database was not ready, and has done nothing for 0 seconds"):
        watcher.wait_for("the database", lambda: False, lambda: 7)


def test_a_process_that_works_makes_progress() -> None:
    before = processor_ticks(os.getpid())
    while processor_ticks(os.getpid()) == before:
        pass
    assert processor_ticks(os.getpid()) > before
