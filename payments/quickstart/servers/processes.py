"""Child processes that never outlive the one that started them."""

import ctypes
import os
import signal
import subprocess  # nosec B404 # programs of ours, never a shell
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from payments.quickstart.servers.accounts import Account

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def die_with_parent(parent_pid: int, death_signal: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send this process `death_signal` when its parent ends (prctl(2), PR_SET_PDEATHSIG)."""
    _libc.prctl(PR_SET_PDEATHSIG, int(death_signal))
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), death_signal)


def spawn(
    arguments: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str],
    account: Account | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
    **popen_options: Any,
) -> "subprocess.Popen[bytes]":
    """Start a program in a session of its own (a Ctrl-C reaches only us), its output appended to `log`.

    Takes the account to run it as (None: our own) and the signal it gets when we die. Call it from the main
    thread: the kernel ties the signal to the thread that forked.
    """
    parent_pid = os.getpid()
    with log.open("ab") as output:
        return subprocess.Popen(  # nosec B603 # a program of ours, with arguments of ours
            [str(argument) for argument in arguments],
            stdin=popen_options.pop("stdin", subprocess.DEVNULL),
            stdout=output,
            stderr=output,
            env=dict(environment),
            start_new_session=True,
            preexec_fn=lambda: die_with_parent(parent_pid, death_signal),
            **(account.popen_options() if account else {}),
            **popen_options,
        )


def stop(
    *processes: "subprocess.Popen[bytes]",
    timeout_seconds: float,
    first: signal.Signals = signal.SIGTERM,
) -> None:
    """Ask the processes to end, and after the given time kill what is left of their sessions."""
    for process in processes:
        process.send_signal(first)
    wait_until(lambda: all(process.poll() is not None for process in processes), timeout_seconds)
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(condition: Callable[[], bool], timeout_seconds: float) -> bool:
    """Poll `condition` until it holds; False when the time is over."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def tail(log: Path, lines: int) -> list[str]:
    """The last lines of a log that is not empty, as far as there are any."""
    return log.read_text(errors="replace").rstrip().splitlines()[-lines:]
