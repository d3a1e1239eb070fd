"""PostgreSQL killed under load and started again loses nothing that was acknowledged."""

import json
import subprocess
import sys

import pytest

from payments.embedded.folders import PROJECT

pytestmark = pytest.mark.long


def test_a_database_killed_under_load_loses_nothing_acknowledged_and_does_nothing_twice() -> None:
    command = [sys.executable, "-m", "tests.figures", "database", "--kills", "1", "--seed", "1"]

    done = subprocess.run(command, cwd=PROJECT, capture_output=True, check=False)

    assert done.returncode == 0, done.stderr[-5000:]
    figure = json.loads(done.stdout)
    assert figure["acknowledged"] > 0
    assert (figure["lost"], figure["double"], figure["taken_after_5xx"], figure["unresolved"]) == (0, 0, 0, 0)
    assert (figure["undocumented"], figure["differ"], figure["broken_invariants"]) == ([], 0, 0)
