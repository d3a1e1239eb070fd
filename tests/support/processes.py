"""The launcher of programs: each has a log, is waited for until it is ready, and ends with us."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from random import randrange
from tempfile import TemporaryDirectory
from typing import Any, Self

from payments.embedded.folders import PROJECT
from payments.embedded.processes import spawn, stop, tail, wait_until
from payments.quickstart import ports
from payments.quickstart.ports import HOST, claim

# Far more than anything takes, on a machine with a lot to do.
PATIENCE_SECONDS = 60
# Each worker of the suite has ports of its own, below those that the kernel gives to connections.
PORTS_OF_WORKER = 1_000
FIRST_PORT = 10_000 + PORTS_OF_WORKER * int(os.environ.get("PYTEST_XDIST_WORKER", "gw20").removeprefix("gw"))
_next_port = count(randrange(PORTS_OF_WORKER))
LOG_LINES_SHOWN = 40


class Failed(AssertionError):
    """A program does not do what it was started for; the message has the end of its log."""


class Program:
    """A program in a session of its own. What it writes is in `log`, or its standard output in `output`."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path, output: Path | None = None) -> None:
        self._process, self._log, self._output = process, log, output or log

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """Return what it has written to standard output, and to standard error where that has no other file."""
        return self._output.read_text(errors="replace")

    @property
    def errors(self) -> str:
        """Return what it has written to standard error, and to standard output where that has no other file."""
        return self._log.read_text(errors="replace")

    def wait_until(self, ready: Callable[[], bool] | str, timeout_seconds: float = PATIENCE_SECONDS) -> Self:
        """Wait until `ready()` holds, or a pattern occurs in what it writes.

        Raises Failed where the program ends before, or the time is over.
        """
        is_ready = ready if callable(ready) else lambda: re.search(ready, self.output + self.errors) is not None
        in_time = wait_until(lambda: is_ready() or not self.is_running, timeout_seconds)
        if not in_time or not (self.is_running or is_ready()):
            raise self.failed("is not ready")
        return self

    def failed(self, what: str) -> Failed:
        """Return the error with the end of the log."""
        command = " ".join(map(str, self._process.args))
        lines = tail(self._log, LOG_LINES_SHOWN)
        return Failed("\n  ".join([f"{command} {what}. The end of {self._log}:", *lines]))

    def ask(self) -> str:
        """Send an empty line to its standard input; return the line that it writes then."""
        before = self.output.count("\n")
        assert self._process.stdin
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        self.wait_until(lambda: self.output.count("\n") > before)
        return self.output.splitlines()[before]

    def wait(self, timeout_seconds: float = PATIENCE_SECONDS) -> int:
        """Close its standard input and wait until it has ended; return its exit status. Raises Failed."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            return self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            raise self.failed("does not end") from None

    def succeed(self, timeout_seconds: float = PATIENCE_SECONDS) -> None:
        """Wait as `wait` does. Raises Failed where it ends with another exit status than 0, too."""
        if status := self.wait(timeout_seconds):
            raise self.failed(f"ended with {status}")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it, and to none of the processes that it started."""
        self._process.send_signal(number)

    def pause(self) -> None:
        """Stop it as it is, as on a host that hangs, until `resume`."""
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        self.send(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it and what it started: nothing of it gets to finish anything."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self, timeout_seconds: float = 5, first: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to end, and kill it after the given time."""
        stop(self._process, timeout_seconds=timeout_seconds, first=first)


def start(
    command: Sequence[object],
    *,
    log: Path,
    output: Path | None = None,
    environment: Mapping[str, str] | None = None,
    cwd: Path | str = PROJECT,
    **options: Any,
) -> Program:
    """Start a program of the machine or of ours in the environment, or in another one."""
    environment = os.environ if environment is None else environment
    with (output or log).open("ab") as writing:
        options = {"stdout": writing, "cwd": cwd, **options}
        return Program(spawn(list(map(str, command)), log=log, environment=environment, **options), log, output)


@contextmanager
def running(
    command: Sequence[object],
    *,
    log: Path,
    ready: Callable[[], bool] | str | None = None,
    stop_seconds: float = 5,
    **options: Any,
) -> Iterator[Program]:
    """Start a program as `start` does, and yield it when it is ready; it ends with the block. Raises Failed."""
    program = start(command, log=log, **options)
    try:
        yield program.wait_until(ready) if ready else program
    finally:
        program.stop(stop_seconds)


@contextmanager
def running_module(name: str, *arguments: object) -> Iterator[Program]:
    """Run a module in a process that does not share our interpreter's lock; its first line says that it is ready."""
    with TemporaryDirectory(prefix="kaha-test-") as folder:
        command, log = [sys.executable, "-m", name, *arguments], Path(folder) / "log"
        with running(command, log=log, ready=r"\n", stdin=subprocess.PIPE) as program:
            yield program


def free_port() -> int:
    """Return a port of loopback that nothing listens on, and that this process was not given before."""
    for number in islice(_next_port, PORTS_OF_WORKER):
        port = FIRST_PORT + number % PORTS_OF_WORKER
        with suppress(ports.Failed), claim(port):
            return port
    raise Failed("No port is free.")


def listens(port: int) -> bool:
    """Return whether something takes connections there."""
    with socket.socket() as caller:
        return caller.connect_ex((HOST, port)) == 0


def with_children(pid: int) -> list[int]:
    """Return the process's ID and those of its children, as a server of PostgreSQL has them."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
