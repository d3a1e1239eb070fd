"""Watching the processes of a running quickstart, and for a reason to stop."""

import os
import signal
import subprocess  # nosec B404 # programs of ours, never a shell
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from payments.quickstart.servers.processes import tail

WATCH_SECONDS = 0.2
LOG_LINES_SHOWN = 15


class Stopped(Exception):
    """The quickstart was asked to end, or the process that started it has ended."""


class Failed(Exception):
    """The quickstart cannot continue; the message is for the person at the terminal."""


class Supervisor:
    """Waits, while watching that every process lives and that nothing asks us to stop.

    Every method that waits raises Failed where a watched process has ended by itself, and Stopped.
    """

    def __init__(self) -> None:
        self._watched: list[tuple[str, subprocess.Popen[bytes], Path]] = []
        self._parent_pid = os.getppid()
        self._asked_to_stop = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores it
                signal.signal(number, self._stop_soon)

    def watch(self, name: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
        """Count a process, which writes to `log`, among those that must live from now on."""
        self._watched.append((name, process, log))

    def wait_for(self, what: str, condition: Callable[[], bool], timeout_seconds: float) -> None:
        """Wait until the condition holds. Raises Failed where it does not in time."""
        deadline = time.monotonic() + timeout_seconds
        while not condition():
            self.check()
            if time.monotonic() > deadline:
                raise Failed(f"{what} was not ready within {timeout_seconds:g} seconds.")
            time.sleep(0.02)

    def wait_for_end(self, name: str, process: "subprocess.Popen[bytes]", log: Path, timeout_seconds: float) -> None:
        """Wait until a process has done its work. Raises Failed where it could not."""
        self.wait_for(name, lambda: process.poll() is not None, timeout_seconds)
        if process.returncode:
            raise Failed(f"{name} failed. {_end_of(log)}")

    def run_until_stopped(self) -> None:
        """Watch until there is a reason to end."""
        while True:
            self.check()
            time.sleep(WATCH_SECONDS)

    def check(self) -> None:
        """Raise Stopped or Failed where there is a reason to end."""
        if self._asked_to_stop or os.getppid() != self._parent_pid:
            raise Stopped
        for name, process, log in self._watched:
            if process.poll() is not None:
                raise Failed(f"{name} ended by itself with exit code {process.returncode}. {_end_of(log)}")

    def _stop_soon(self, number: int, frame: FrameType | None) -> None:
        self._asked_to_stop = True


def _end_of(log: Path) -> str:
    lines = "\n".join(f"  {line}" for line in tail(log, LOG_LINES_SHOWN))
    return f"The end of {log}:\n{lines}"
