"""A Celery worker, as an operator starts it, that can die as a machine does."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from django.db import connection

from payments.embedded.folders import PROJECT
from payments.embedded.processes import spawn, wait_until

START_TIMEOUT_SECONDS = 30
OPTIONS = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=INFO"]


class Worker:
    """Works on the database that this process is connected to; its files are in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> None:
        """Return without waiting until it works; `environment` comes on top of ours."""
        command = [sys.executable, "-m", "celery", "-A", "config.celery", "worker", *OPTIONS]
        self._process = spawn(
            command,
            log=self.log,
            environment={**os.environ, "DATABASE_URL": database_url(), **environment},
            cwd=PROJECT,
        )

    def kill(self) -> None:
        """SIGKILL to the worker: nothing of it gets to finish anything."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    @property
    def log(self) -> Path:
        return self._folder / "worker.log"

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ends_after(self, number: signal.Signals, timeout_seconds: float) -> int:
        """Send a signal to the worker; return its exit status."""
        assert self._process
        self._process.send_signal(number)
        return self._process.wait(timeout_seconds)

    def wait_until_delivered(self, timeout_seconds: float) -> bool:
        """Whether nothing waits any more within this time."""
        return wait_until(nothing_waits, timeout_seconds)


def nothing_waits() -> bool:
    from payments.models import Webhook

    return not Webhook.objects.filter(state="waiting").exists()


def database_url() -> str:
    """Of the very database in use, which in tests is not the one that the environment names."""
    address, mark, options = os.environ["DATABASE_URL"].partition("?")
    return f"{address.rpartition('/')[0]}/{connection.settings_dict['NAME']}{mark}{options}"
