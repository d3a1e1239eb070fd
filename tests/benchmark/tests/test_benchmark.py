"""The command from the outside: a tiny run on real servers."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from payments.embedded.folders import PROJECT
from tests.quickstart.quickstart_process import ENVIRONMENT, processes_of

pytestmark = pytest.mark.long

TINY = ["--only", "charges,list", "--rounds", "1", "--seconds", "0.2", "--connections", "2"]


@dataclass(frozen=True)
class Ended:
    """A run that has ended; `folder` is where its scratch folder was."""

    folder: Path
    found: dict[str, Any]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    folder = tmp_path_factory.mktemp("benchmark")
    # Servers of somebody else, who would not be amused.
    others = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}
    environment = {**ENVIRONMENT, **others, "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "tests.benchmark", *TINY]
    done = subprocess.run(command, cwd=PROJECT, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return Ended(folder, json.loads(done.stdout))


def test_each_part_is_measured_beside_others(ended: Ended) -> None:
    parts = ["charges", "list"]
    peers = {"charges/textbook", "charges/books", "charges/company", "list/company"}
    assert ended.found["figures"].keys() == {*parts, *(f"{part}/plain" for part in parts), *peers}


def test_every_measure_of_the_service_has_median_minimum_and_maximum(ended: Ended) -> None:
    charges = ended.found["figures"]["charges"]
    assert charges.keys() == {"per_second", "p50_ms", "p99_ms", "server_cpu_ms", "postgres_cpu_ms"}
    assert all(one["minimum"] == one["median"] == one["maximum"] > 0 for one in charges.values())


def test_a_peer_has_the_cpu_of_its_server_and_of_the_same_postgresql(ended: Ended) -> None:
    figures = ended.found["figures"]
    assert "postgres_cpu_ms" not in figures["charges/plain"]
    assert figures["charges/company"].keys() == figures["charges"].keys()


def test_the_goals_stand_beside_what_was_reached(ended: Ended) -> None:
    figures = ended.found["figures"]
    first = ended.found["goals"][0]
    ratio = figures["charges"]["per_second"]["median"] / figures["charges/company"]["per_second"]["median"]
    assert first["ratio"] == pytest.approx(ratio, rel=0.01)


def test_the_books_hold_all_that_was_answered_and_no_more(ended: Ended) -> None:
    books = ended.found["books"]
    assert books["answered"] > 0
    assert (books["missing"], books["broken"], books["in_order"]) == ([], [], True)
    assert books["charges"] == books["charges_in_books"]


def test_nothing_of_it_is_left(ended: Ended) -> None:
    assert list(ended.folder.iterdir()) == []
    assert processes_of(ended.folder) == {}
