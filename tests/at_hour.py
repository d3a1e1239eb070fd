"""Runs pytest, and the programs that its tests start, as if it were another hour.

`uv run --with libfaketime python -m tests.at_hour 2026-11-30T23:59:30 [what pytest takes]`. The hour is in UTC, and
the clock runs on from it. Waits are as long as usual.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import libfaketime
import pytest

VARIABLES = ("LD_PRELOAD", "FAKETIME", "DONT_FAKE_MONOTONIC")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests() -> Generator[None]:
    """Have programs with an environment of their own, as PostgreSQL has, get the hour as well."""
    clock, start = {name: os.environ[name] for name in VARIABLES}, subprocess.Popen.__init__

    def start_at_hour(self: Any, *arguments: Any, env: Any = None, **options: Any) -> None:
        start(self, *arguments, env=env and {**clock, **env}, **options)

    subprocess.Popen.__init__ = start_at_hour
    return (yield)


def main() -> int:
    """Run pytest at the hour in the first argument, with the other arguments; return its exit status."""
    hour, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        # PostgreSQL runs as a user of its own, who must reach the library.
        Path(folder).chmod(0o755)
        library = shutil.copy(next(Path(libfaketime.__file__).parent.rglob("libfaketime.so*")), folder)
        ahead = datetime.fromisoformat(hour).replace(tzinfo=UTC) - datetime.now(UTC)
        values = (library, f"{ahead.total_seconds():+.0f}s", "1")
        environment = {**os.environ, **dict(zip(VARIABLES, values, strict=True))}
        command = [sys.executable, "-m", "pytest", "-p", "tests.at_hour", *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
