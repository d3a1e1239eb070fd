"""The programs of the quickstart: PostgreSQL, Redis, what prepares the database, the web server, the worker."""

import json
import os
import subprocess  # nosec B404 # programs of ours, never a shell
import sys
from collections.abc import Callable
from pathlib import Path

from payments.quickstart import servers
from payments.quickstart.ports import HOST, answers
from payments.quickstart.servers import postgres, redis_server
from payments.quickstart.servers.places import PROJECT, Places, drop_temporary_folder
from payments.quickstart.servers.processes import spawn, stop
from payments.quickstart.supervisor import Supervisor

START_TIMEOUT_SECONDS = 60
STOP_TIMEOUT_SECONDS = 5
DATA_FILES = ("demo.json", "beat-schedule", "worker.ready")

Program = subprocess.Popen[bytes]


class Programs:
    """All programs of one run. DATABASE_URL or REDIS_URL in the environment stand for servers of somebody else."""

    def __init__(self, places: Places, port: int, supervisor: Supervisor) -> None:
        self._places = places
        self._port = port
        self._supervisor = supervisor
        self._programs: dict[str, Program] = {}
        self._redis: Program | None = None
        self._postgres: Program | None = None
        self._environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PUBLIC_URL": f"http://{HOST}:{port}",
            **servers.environment(places),
            **{name: value for name, value in os.environ.items() if value},
            "KAHA_DATA": str(places.data),
        }

    def start(self) -> dict[str, str]:
        """Start everything and wait until all of it is ready. Returns what `demo_merchant` has written.

        The programs load their code side by side, and go on one after the other. Raises Failed, EmbeddedError or
        Stopped.
        """
        self._keep_last_logs()
        demo_file, schedule, working = (self._places.data / name for name in DATA_FILES)
        preparation = self._load("prepare", demo_file)
        web = self._load("web", self._port)
        worker = self._load("worker", schedule, working)
        self._start_servers()
        self._prepare(preparation)
        self._let_work(web, worker, working)
        return dict(json.loads(demo_file.read_text()))

    def folders(self) -> dict[Path, str]:
        """Every folder in which something of this run is kept, the data folder first, and what that is."""
        folders = self._places.folders()
        if not self._postgres:
            folders[self._places.data] = "all but the database, which DATABASE_URL names"
        elif postgres.uses_copied_programs(self._places.account):
            folders[postgres.COPIED_PROGRAMS] = "PostgreSQL's programs, where its own user reaches them"
        return folders

    def stop(self) -> None:
        """End what `start` got to, the servers after the programs that use them."""
        stop(*self._programs.values(), timeout_seconds=STOP_TIMEOUT_SECONDS)
        if self._redis:
            redis_server.stop_server(self._redis)
        if self._postgres:
            postgres.stop_server(self._postgres)
        drop_temporary_folder(self._places)

    def _start_servers(self) -> None:
        if not os.environ.get("REDIS_URL"):
            self._redis = redis_server.start(self._places)
            self._supervisor.watch("Redis", self._redis, self._places.log("redis"))
        if not os.environ.get("DATABASE_URL"):
            postgres.create(self._places)
            self._postgres = postgres.start(self._places)
            self._supervisor.watch("PostgreSQL", self._postgres, self._places.log("postgres"))
            self._wait_for("PostgreSQL", lambda: postgres.is_ready(self._places))

    def _prepare(self, preparation: Program) -> None:
        _go(preparation)
        log = self._places.log("prepare")
        self._supervisor.wait_for_end("preparing the database", preparation, log, START_TIMEOUT_SECONDS)
        if self._postgres:
            postgres.mark_migrated(self._places)

    def _let_work(self, web: Program, worker: Program, ready_file: Path) -> None:
        ready_file.unlink(missing_ok=True)
        self._supervisor.watch("the web server", web, self._places.log("web"))
        self._supervisor.watch("the worker", worker, self._places.log("worker"))
        _go(web)
        _go(worker)
        self._wait_for("the web server", lambda: answers(self._port))
        self._wait_for("the worker", ready_file.exists)

    def _load(self, name: str, *arguments: object) -> Program:
        """Start a module of this package, which finds the servers through its environment and waits for `_go`."""
        program = spawn(
            [sys.executable, "-m", f"payments.quickstart.{name}", *map(str, arguments)],
            log=self._places.log(name),
            environment=self._environment,
            cwd=PROJECT,
            stdin=subprocess.PIPE,
        )
        self._programs[name] = program
        return program

    def _wait_for(self, what: str, condition: Callable[[], bool]) -> None:
        self._supervisor.wait_for(what, condition, START_TIMEOUT_SECONDS)

    def _keep_last_logs(self) -> None:
        """The logs of the last run stay until the next one, so that they neither vanish at once nor grow for ever."""
        for log in self._places.logs.glob("*.log"):
            log.replace(log.with_suffix(".log.1"))


def _go(program: Program) -> None:
    if program.stdin:
        program.stdin.close()
