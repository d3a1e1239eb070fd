"""Servers that a run starts and ends: kaha as the quickstart starts it, and those that are measured beside it."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django
import psutil
import psycopg
from environ import Env

from payments import embedded
from payments.embedded.folders import PROJECT, prepare
from payments.quickstart.ports import HOST, answers, claim
from payments.web.server import CONNECTIONS, PROCESSES
from tests.high_limits import MANY_DECLINES_TEXT
from tests.support.processes import running

# As long as a cluster may take to be made and migrated.
START_SECONDS = 300
# All other settings of the environment hold for the run, so that their price can be seen.
OUTSIDE_SERVERS = ("DATABASE_URL", "REDIS_URL")
# Requests are still counted, but no limit is reached.
LIMITS = dict.fromkeys(("RATE_LIMIT", "RATE_LIMIT_ANONYMOUS"), "999999999/second")
LIMITS["DECLINE_LIMITS_TEST"] = MANY_DECLINES_TEXT
GRANIAN = ["granian", "--host", HOST, "--http", "1", "--no-ws", "--interface", "wsgi", "--workers", PROCESSES]
GRANIAN += ["--backlog", CONNECTIONS, "--backpressure", CONNECTIONS]
# What is beside kaha, served by the same program. Peers take least CPU with so many threads.
SIDE_SERVERS: dict[str, list[Any]] = {
    "plain": [*GRANIAN, "--blocking-threads", 100, "tests.benchmark.beside.plain:application"],
    "peers": [*GRANIAN, "--blocking-threads", 4, "--factory", "django.core.wsgi:get_wsgi_application"],
}


@dataclass(frozen=True)
class Service:
    """A quickstart: its data folder, its port, a merchant's secret key, and process IDs of `server` and `postgres`."""

    data: Path
    port: int
    secret_key: str
    pids: Mapping[str, int]

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings that lead a process to its database."""
        return {**embedded.environment(prepare(self.data)), "KAHA_DATA": str(self.data)}

    @property
    def database(self) -> list[str]:
        """Return its host, user, password and name, as libpq wants them."""
        found = Env.db_url_config(self.environment["DATABASE_URL"])
        return [str(found[name]) for name in ("HOST", "USER", "PASSWORD", "NAME")]

    def connect(self) -> psycopg.Connection:
        host, user, password, dbname = self.database
        return psycopg.connect(host=host, user=user, password=password, dbname=dbname)


@dataclass(frozen=True)
class SideServer:
    """Where one answers, below paths named as the parts of the service that it stands beside."""

    port: int
    pid: int


@contextmanager
def started_service(**settings: str) -> Iterator[Service]:
    """Start kaha on a scratch database, and delete all of it in the end. Raises Failed."""
    data = Path(tempfile.mkdtemp(prefix="kaha-benchmark-"))
    # PostgreSQL's own user, where we are root, must get through.
    data.chmod(0o711)
    log = data / "quickstart.log"
    outer = {name: value for name, value in os.environ.items() if name not in OUTSIDE_SERVERS}
    command = [sys.executable, PROJECT / "manage.py", "quickstart", "--json", "--port", "0", "--data", data]
    output, environment = data / "ready", outer | LIMITS | settings
    try:
        with running(command, log=log, output=output, environment=environment, stop_seconds=30) as quickstart:
            # Nothing but one line is ever written there, and that when all is ready.
            quickstart.wait_until(lambda: quickstart.output.endswith("\n"), START_SECONDS)
            ready = json.loads(quickstart.output)
            service = Service(data, int(ready["api"].rpartition(":")[2]), ready["sk_test"], _pids(ready["pid"]))
            yield service
    finally:
        for folder in prepare(data).described():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def main_service() -> Iterator[Service]:
    """Start the one that this process uses too: Django's settings lead to its database. Raises Failed."""
    with started_service() as service:
        for name in OUTSIDE_SERVERS:
            os.environ.pop(name, None)
        os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", **service.environment}
        django.setup()
        yield service


@contextmanager
def side_server(name: str, data: Path, **environment: str) -> Iterator[SideServer]:
    """Start one of SIDE_SERVERS, whose log is in `data`. Raises Failed where it does not answer in time."""
    log = data / f"{name}.log"
    with claim(0) as claimed:
        port = claimed.getsockname()[1]
        command = [sys.executable, "-m", *map(str, SIDE_SERVERS[name]), "--port", str(port)]
        with running(command, log=log, ready=lambda: answers(port), environment=os.environ | environment) as program:
            yield SideServer(port, program.pid)


def _pids(quickstart: int) -> dict[str, int]:
    """Return the process IDs of the programs of a quickstart whose CPU time is measured."""
    programs = {" ".join(child.cmdline()): child.pid for child in psutil.Process(quickstart).children()}
    names = {"server": "quickstart.web", "postgres": "/postgres "}
    return {name: next(pid for line, pid in programs.items() if text in line) for name, text in names.items()}
