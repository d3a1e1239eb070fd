"""How long the programs take to start, beside an interpreter that loads no more than what they stand on."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from payments.embedded.folders import PROJECT
from tests.support.web import web_server
from tests.support.worker import Worker

LIBRARIES = "aiohttp, celery, django.contrib.admin, psycopg, redis, rest_framework.views, fido2.server"
FLOOR = f"import django; django.setup(); import {LIBRARIES}"
BARE = {"DJANGO_SETTINGS_MODULE": "django.conf.global_settings"}


def starting(folder: Path, rounds: int) -> dict[str, object]:
    """Return the median seconds until `manage.py check` is done, the web server answers and the worker is ready.

    `of_floor` is the median ratio to what it takes to load the libraries alone, in the same round.
    """
    starts = {"floor": _load, "check": _check, "web": _serve, "worker": _work}
    seconds = [{name: start(folder) for name, start in starts.items()} for _ in range(rounds)]
    return {
        name: {
            "seconds": round(median(each[name] for each in seconds), 2),
            "of_floor": round(median(each[name] / each["floor"] for each in seconds), 2),
        }
        for name in starts
    }


def _load(folder: Path) -> float:
    return _seconds_of(os.environ | BARE, "-c", FLOOR)


def _check(folder: Path) -> float:
    return _seconds_of(os.environ, "manage.py", "check")


def _seconds_of(environment: Mapping[str, str], *arguments: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, cwd=PROJECT, env=environment)
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
