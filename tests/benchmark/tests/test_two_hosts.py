"""What a second web host brings: what is reckoned of it, and the whole command with the least load."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from payments.embedded.folders import PROJECT
from tests.figures.failover.cluster.namespaces import ip
from tests.figures.operations.two_hosts import summary
from tests.quickstart.quickstart_process import ENVIRONMENT, processes_of

# Processor time is counted in 10 ms, and fewer sources take PostgreSQL less than that.
TINY = ["--rounds", "1", "--charges", "160"]


def measured(postgres_ms: float) -> dict[str, float]:
    """Return what one round found, where a source takes PostgreSQL 0.5 ms, and web 2.5 ms less than a charge."""
    cpu = {"web ms of a source": 2.5, "PostgreSQL ms of a source": 0.5, "web ms of a charge": 5.0}
    return {"charges per second": 100.0, "PostgreSQL ms of a charge": postgres_ms, **cpu}


def test_postgresql_is_full_when_half_of_its_cores_makes_charges_and_their_sources() -> None:
    rounds = [{"one host": measured(1.0), "two hosts": measured(of_two)} for of_two in (2.0, 2.0, 9.0)]
    found = summary(rounds)
    # Of 2.5 ms, 400 are made by one core.
    assert found["charges per second at which PostgreSQL is full"] == {
        **{"8 cores": 1_600, "32 cores": 6_400, "64 cores": 12_800}
    }
    assert (found["web cores for each core of PostgreSQL"], found["PostgreSQL's share"]) == (3.0, 0.25)


@pytest.mark.long
def test_the_command_measures_both_and_leaves_nothing(tmp_path: Path) -> None:
    if os.geteuid() or shutil.which("ip") is None:
        pytest.skip("no network namespace can be made")
    environment = {**ENVIRONMENT, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "tests.figures", "two_hosts", *TINY]
    with subprocess.Popen(command, cwd=PROJECT, env=environment, text=True, stdout=subprocess.PIPE) as process:
        found: dict[str, Any] = json.loads(process.communicate()[0])
    assert all(found[kind]["web ms of a charge"] > 0 for kind in ("one host", "two hosts"))
    assert f"-{process.pid}-" not in ip("netns", "list")
    assert (list(tmp_path.iterdir()), processes_of(tmp_path)) == ([], {})
