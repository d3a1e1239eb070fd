"""A Celery worker, as an operator starts it, that can die as a machine does."""

import os
import sys
from pathlib import Path

from django.db import connection

from payments.embedded.folders import PROJECT
from tests.support import processes
from tests.support.processes import Program

OPTIONS = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=INFO"]
COMMAND = [sys.executable, "-m", "celery", "-A", "config.celery", "worker", *OPTIONS]


class Worker:
    """Works on the database that this process is connected to; its files are in `folder`, its version in `code`."""

    def __init__(self, folder: Path, code: Path = PROJECT) -> None:
        self.log, self._code = folder / "worker.log", code
        self._program: Program | None = None

    def start(self, *options: str, **environment: str) -> None:
        """Return without waiting until it works; `environment` comes on top of ours."""
        own = os.environ | {"DATABASE_URL": database_url(), **environment}
        self._program = processes.start([*COMMAND, *options], log=self.log, environment=own, cwd=self._code)

    @property
    def program(self) -> Program:
        """Return the process that runs."""
        assert self._program
        return self._program

    def kill(self) -> None:
        """Kill it if it runs."""
        if self._program:
            self._program.kill()
        self._program = None


def nothing_waits() -> bool:
    from payments.models import Webhook

    return not Webhook.objects.filter(state="waiting").exists()


def database_url() -> str:
    """Of the very database in use, which in tests is not the one that the environment names."""
    address, mark, options = os.environ["DATABASE_URL"].partition("?")
    return f"{address.rpartition('/')[0]}/{connection.settings_dict['NAME']}{mark}{options}"
