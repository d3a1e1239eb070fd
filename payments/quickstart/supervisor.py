"""Watching the processes of a running quickstart, and for a reason to stop."""

import os
import signal
import subprocess  # nosec B404 # programs of ours, never a shell
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from payments.embedded.processes import tail

WATCH_SECONDS = 0.2
LOG_LINES_SHOWN = 15
# What does nothing for so long is stuck; what takes longer than this is worth a word.
IDLE_SECONDS = 60
SLOW_SECONDS = 15


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

    def wait_for(
        self,
        what: str,
        condition: Callable[[], bool],
        progress: Callable[[], int],
        slow_seconds: float | None = None,
    ) -> None:
        """Wait until the condition holds, for as long as `progress` grows: a busy machine takes minutes.

        After `slow_seconds` (SLOW_SECONDS) it says so.

        Raises Failed where it has not grown for IDLE_SECONDS.
        """
        slow_seconds = SLOW_SECONDS if slow_seconds is None else slow_seconds
        began = moved_at = time.monotonic()
        reached, is_announced = progress(), False
        while not condition():
            self.check()
            now, latest = time.monotonic(), progress()
            if latest > reached:
                reached, moved_at = latest, now
            if now - moved_at > IDLE_SECONDS:
                raise Failed(f"{what} was not ready, and has done nothing for {IDLE_SECONDS:g} seconds.")
            if not is_announced and now - began > slow_seconds:
                is_announced = True
                say(f"{what} takes longer than usual. Still waiting.")
            time.sleep(0.02)

    def wait_for_end(
        self, name: str, process: "subprocess.Popen[bytes]", log: Path, slow_seconds: float | None = None
    ) -> None:
        """Wait until a process has done its work. Raises Failed where it could not."""
        self.wait_for(name, lambda: process.poll() is not None, lambda: processor_ticks(process.pid), slow_seconds)
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


def say(text: str) -> None:
    """Say on standard error what is done now: a start takes many seconds on a busy machine."""
    print(f"kaha: {text}", file=sys.stderr, flush=True)


def processor_ticks(pid: int) -> int:
    """Return how much of the processor a process and its children have used, in ticks of the kernel."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return sum(map(_own_ticks, [pid, *map(int, children)]))


def _own_ticks(pid: int) -> int:
    try:
        # The name comes before, in brackets. Then 12 and 13 are its time in user and kernel mode, 14 and 15 those of
        # children that have ended (proc(5)).
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


def _end_of(log: Path) -> str:
    lines = "\n".join(f"  {line}" for line in tail(log, LOG_LINES_SHOWN))
    return f"The end of {log}:\n{lines}"
