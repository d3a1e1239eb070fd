"""How long the programs take to start."""

import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from payments.embedded.folders import PROJECT
from tests.support.web import web_server
from tests.support.worker import Worker


def starting(folder: Path, rounds: int) -> dict[str, float]:
    """Return the median seconds until `manage.py check` is done, the web server answers and the worker is ready."""
    starts = {"check": _check, "web": _serve, "worker": _work}
    return {name: round(median(start(folder) for _ in range(rounds)), 2) for name, start in starts.items()}


def _check(folder: Path) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "manage.py", "check"], check=True, capture_output=True, cwd=PROJECT)
    return time.perf_counter() - started


def _serve(folder: Path) -> float:
    started = time.perf_counter()
    with web_server(folder):
        return time.perf_counter() - started


def _work(folder: Path) -> float:
    with TemporaryDirectory(dir=folder) as own:
        worker = Worker(Path(own))
        started = time.perf_counter()
        worker.start()
        try:
            worker.program.wait_until(r" ready\.")
            return time.perf_counter() - started
        finally:
            worker.kill()
