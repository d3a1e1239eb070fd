"""Child processes that end with the process that started them."""

import ctypes
import os
import resource
import signal
import subprocess  # nosec B404 # programs of ours, never a shell
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
_libc = ctypes.CDLL(None)


class EmbeddedError(Exception):
    """The embedded servers cannot run; the message is one line for the person at the terminal."""


def die_with_parent(parent_pid: int, death_signal: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send this process `death_signal` when its parent ends (prctl(2), PR_SET_PDEATHSIG)."""
    _libc.prctl(PR_SET_PDEATHSIG, int(death_signal))
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), death_signal)


def leave_no_core_dump() -> None:
    """Have the kernel write no core dump of this process, and let no other one of its account read its memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _libc.prctl(PR_SET_DUMPABLE, 0)


def spawn(
    arguments: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str],
    death_signal: signal.Signals = signal.SIGKILL,
    **popen_options: Any,
) -> "subprocess.Popen[bytes]":
    """Start a program in a session of its own, so that Ctrl-C reaches only us; append its output to `log`.

    It gets `death_signal` when we end. Call it from the main thread: the kernel ties the signal to the thread that
    forked.
    """
    parent_pid = os.getpid()
    with log.open("ab") as output:
        return subprocess.Popen(  # nosec B603 # a program of ours, with arguments of ours
            [str(argument) for argument in arguments],
            stderr=output,
            env=dict(environment),
            start_new_session=True,
            preexec_fn=lambda: die_with_parent(parent_pid, death_signal),
            **{"stdin": subprocess.DEVNULL, "stdout": output, **popen_options},
        )


def stop(*processes: "subprocess.Popen[bytes]", timeout_seconds: float, first: signal.Signals = signal.SIGTERM) -> None:
    """Ask the processes to end, and after the given time kill what is left of their sessions."""
    for process in processes:
        process.send_signal(first)
    wait_until(lambda: all(process.poll() is not None for process in processes), timeout_seconds)
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(condition: Callable[[], bool], timeout_seconds: float) -> bool:
    """Poll `condition` until it holds; return False when the time is over."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def tail(log: Path, lines: int) -> list[str]:
    """Return the last lines of a log."""
    return log.read_text(errors="replace").rstrip().splitlines()[-lines:]
