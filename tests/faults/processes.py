"""Processes forked from one that has everything loaded, so that each starts at once."""

import gc
import os
import signal
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from payments.embedded.processes import die_with_parent

Job = Callable[[], Any]


@dataclass(frozen=True)
class Broke:
    """A job raised what it should not have."""

    traceback: str


@dataclass(frozen=True)
class Ending:
    """How a job ended: with `result`, or `killed` before it had one."""

    result: Any
    killed: bool


@dataclass(frozen=True)
class Stopped:
    """A job's process was stopped, and waits until it is resumed."""


@contextmanager
def forked(run: Callable[[Connection], None]) -> Iterator[Connection]:
    """Has `run` called in a process of its own until the block ends; the two hold the ends of one pipe."""
    ours, theirs = Pipe()
    pid = _fork(lambda: run(theirs), keep=theirs, close=ours)
    theirs.close()
    try:
        yield ours
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class Nursery:
    """A process that does nothing but fork one more for each job, without a thread or a connection of its own."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def run(self, job: Job, meanwhile: Callable[[], None]) -> Ending:
        """Run `job`, which can be pickled, in a new process, and `meanwhile` when it is stopped.

        Raises AssertionError where the job breaks.
        """
        self._pipe.send(job)
        result = None
        while not isinstance(message := self._pipe.recv(), Ending):
            if isinstance(message, Stopped):
                meanwhile()
                self._pipe.send(message)
            else:
                result = message
        assert not isinstance(result, Broke), result.traceback
        return Ending(result, message.killed)


@contextmanager
def nursery() -> Iterator[Nursery]:
    with forked(_breed) as pipe:
        yield Nursery(pipe)


def listener() -> socket.socket:
    """Return a socket that listens on some port of loopback."""
    return socket.create_server(("127.0.0.1", 0), backlog=1000)


def port_of(listening: socket.socket) -> int:
    port: int = listening.getsockname()[1]
    return port


def _fork(run: Callable[[], None], keep: Connection, close: Connection | None = None) -> int:
    parent, pid = os.getpid(), os.fork()
    if pid:
        return pid
    try:
        die_with_parent(parent)
        if close:
            close.close()
        _forget_connections()
        run()
    except BaseException:  # noqa: BLE001  whatever it is, this process must not continue as a copy of its parent
        with suppress(OSError):
            keep.send(Broke(traceback.format_exc()))
    finally:
        os._exit(0)


def _forget_connections() -> None:
    """Drop the parent's connection without a word to the server; it stays the parent's."""
    with suppress(AttributeError):
        del connections[DEFAULT_DB_ALIAS]


def _breed(pipe: Connection) -> None:
    gc.freeze()
    while True:
        job = pipe.recv()
        pid = _fork(lambda: pipe.send(job()), keep=pipe)  # noqa: B023  called at once
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            pipe.send(Stopped())
            pipe.recv()
            os.kill(pid, signal.SIGCONT)
            _, status = os.waitpid(pid, 0)
        pipe.send(Ending(None, os.WIFSIGNALED(status)))
