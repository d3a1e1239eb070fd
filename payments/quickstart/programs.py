"""The programs of the quickstart: PostgreSQL, Redis, what prepares the database, the web server, the worker."""

import json
import os
import subprocess  # nosec B404 # programs of ours, never a shell
import sys
from collections.abc import Callable
from pathlib import Path

from payments import embedded
from payments.embedded import postgres, redis_server
from payments.embedded.folders import PROJECT, Folders, drop_temporary_folder
from payments.embedded.processes import spawn, stop
from payments.quickstart.payment import LINK
from payments.quickstart.ports import HOST, answers
from payments.quickstart.supervisor import Supervisor, processor_ticks, say

STOP_TIMEOUT_SECONDS = 5
MONTH_SECONDS = 60

Program = subprocess.Popen[bytes]


class Programs:
    """All programs of one run. DATABASE_URL or REDIS_URL in the environment name servers outside of it."""

    def __init__(self, folders: Folders, port: int, supervisor: Supervisor) -> None:
        self._folders = folders
        self._port = port
        self._supervisor = supervisor
        self._programs: dict[str, Program] = {}
        self._redis: Program | None = None
        self._postgres: Program | None = None
        self._environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PUBLIC_URL": f"http://{HOST}:{port}",
            "DISPLAY_TIME_ZONE": "Asia/Manila",
            "DEMO_LINK": LINK,
            **embedded.environment(folders),
            **{name: value for name, value in os.environ.items() if value},
            "KAHA_DATA": str(folders.data),
        }

    def start(self) -> dict[str, str]:
        """Start everything, wait until all of it is ready, and return what `demo_merchant` has written.

        The programs load their code side by side, and continue one after the other when their standard input is closed.
        Raises Failed, EmbeddedError or Stopped.
        """
        folders = self._folders
        for log in folders.logs.glob("*.log"):  # those of the last run stay until the next one
            log.replace(log.with_suffix(".log.1"))
        demo_file, ready_file = folders.data / "demo.json", folders.data / "worker.ready"
        ready_file.unlink(missing_ok=True)
        self._load("prepare", demo_file)
        self._load("web", self._port)
        self._load("worker", ready_file)
        say("waiting for PostgreSQL and Redis")
        self._start_servers()
        say("preparing the database: tables, keys, a demo shop")
        self._prepare()
        say("starting the web server and the worker")
        for name, title in (("web", "the web server"), ("worker", "the worker")):
            self._supervisor.watch(title, self._programs[name], folders.log(name))
            self._continue(name)
        self._wait_for("the web server", lambda: answers(self._port), self._programs["web"])
        self._wait_for("the worker", ready_file.exists, self._programs["worker"])
        return dict(json.loads(demo_file.read_text()))

    def make_month(self) -> None:
        """Make the month of demo life, and wait for it. Raises Failed or Stopped."""
        self._load("month")
        self._continue("month")
        title, log = "the month of demo life", self._folders.log("month")
        self._supervisor.wait_for_end(title, self._programs["month"], log, slow_seconds=MONTH_SECONDS)

    def folders(self) -> dict[Path, str]:
        """Return every folder in which something of this run is kept, the data folder first, with what is in it."""
        described = self._folders.described()
        if not self._postgres:
            described[self._folders.data] = "all but the database, which DATABASE_URL names"
        elif postgres.reachable_programs(self._folders).is_relative_to(copied := postgres.copied_programs()):
            described[copied] = "PostgreSQL's programs, where its own user reaches them"
        return described

    def stop(self) -> None:
        """End what `start` got to, the servers after the programs that use them."""
        stop(*self._programs.values(), timeout_seconds=STOP_TIMEOUT_SECONDS)
        if self._redis:
            redis_server.stop_server(self._redis)
        if self._postgres:
            postgres.stop_server(self._postgres)
        drop_temporary_folder(self._folders)

    def _start_servers(self) -> None:
        folders = self._folders
        if not os.environ.get("REDIS_URL"):
            self._redis = redis_server.start(folders)
            self._supervisor.watch("Redis", self._redis, folders.log("redis"))
        if not os.environ.get("DATABASE_URL"):
            postgres.create(folders)
            self._postgres = postgres.start(folders)
            self._supervisor.watch("PostgreSQL", self._postgres, folders.log("postgres"))
            self._wait_for("PostgreSQL", lambda: postgres.is_ready(folders), self._postgres)

    def _wait_for(self, what: str, condition: Callable[[], bool], program: Program) -> None:
        self._supervisor.wait_for(what, condition, lambda: processor_ticks(program.pid))

    def _prepare(self) -> None:
        preparation, log = self._programs["prepare"], self._folders.log("prepare")
        self._continue("prepare")
        self._supervisor.wait_for_end("preparing the database", preparation, log)
        if self._postgres:
            postgres.mark_migrated(self._folders)

    def _load(self, name: str, *arguments: object) -> None:
        """Start a module of this package, which finds the servers through its environment and waits for `_continue`."""
        self._programs[name] = spawn(
            [sys.executable, "-m", f"payments.quickstart.{name}", *map(str, arguments)],
            log=self._folders.log(name),
            environment=self._environment,
            cwd=PROJECT,
            stdin=subprocess.PIPE,
        )

    def _continue(self, name: str) -> None:
        if standard_input := self._programs[name].stdin:
            standard_input.close()
