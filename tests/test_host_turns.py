"""The turns of a host: a process waits for those that others hold, but not for ever."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from payments.concurrency import host_turns
from payments.concurrency.host_turns import host_turn
from tests.support.processes import Program, running_module


@pytest.fixture
def holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """Yield another process that holds both turns of a host; they are waited for until it has ended."""
    files = [tmp_path / "one", tmp_path / "two"]
    for file in files:
        file.touch()
    monkeypatch.setattr(host_turns, "FILES", files)
    monkeypatch.setattr(host_turns, "MOST_SECONDS", 600.0)
    with running_module("tests.holds_turns", *files) as program:
        yield program


def test_a_turn_begins_when_another_process_has_ended_its_own(holder: Program) -> None:
    order = list[str]()

    def take() -> None:
        with host_turn():
            order.append("ours")

    ours = Thread(target=take)
    ours.start()
    order.append("theirs")
    assert holder.wait() == 0
    ours.join()
    assert order == ["theirs", "ours"]


def test_a_process_that_is_killed_gives_its_turns_back(holder: Program) -> None:
    holder.kill()
    with host_turn(), host_turn():
        assert not holder.is_running


def test_a_turn_that_is_not_free_for_long_is_not_waited_for(holder: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_turns, "MOST_SECONDS", 0.01)
    with host_turn():
        assert holder.is_running


def test_a_host_has_at_least_one_turn() -> None:
    assert host_turns.FILES
