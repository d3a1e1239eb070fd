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


@pytest.mark.parametrize(("cpus", "turns"), [(1, 1), (2, 1), (8, 4), (64, 32)])
def test_a_host_has_half_as_many_turns_as_cpus_and_at_least_one(cpus: int, turns: int) -> None:
    assert len(set(host_turns.files_for(cpus))) == turns


def test_a_folder_that_is_no_users_own_bounds_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "theirs").touch()
    monkeypatch.setattr(host_turns, "FILES", [tmp_path / "theirs" / "turn-0"])
    with host_turn():
        pass
