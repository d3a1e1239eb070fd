"""Non-blocking standard error and standard output: a line that cannot be written at once is dropped.

The thread that logs writes to a descriptor that does not block. A queue with a writer thread would lose its lines when
the process is killed, which is when the last lines matter most, and would have to be started in each forked process.
"""

import errno
import fcntl
import io
import os
import select
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

# What a pipe accepts whole or not at all (pipe(7)).
PIPE_BUF = select.PIPE_BUF
# Linux gives a pipe 64 KiB; this size holds some two thousand lines while the reader is not running.
PIPE_BYTES = 1024 * 1024


class Output:
    """An open file, pipe, socket or terminal, to which writes never block.

    The flags of the open file stay as they are, because other programs write to it too.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._put: Callable[[bytes], int] | None = None
        self._is_torn = False

    def write(self, line: bytes) -> None:
        """Write one line; raise OSError if it could not be written, or only in part."""
        line = b"\n" + line if self._is_torn else line
        written = self._write(line)
        self._is_torn = written < len(line)
        if self._is_torn:
            raise BlockingIOError(errno.EAGAIN, "only a part of the line was written")

    def fileno(self) -> int:
        """Return the descriptor that does not block, if there is one."""
        with suppress(OSError):
            self._put = self._put or self._open()
        return self.descriptor

    def _write(self, line: bytes) -> int:
        self._put = self._put or self._open()
        written = 0
        try:
            while written < len(line):
                written += self._put(line[written:])
        except OSError:
            if not written:
                raise
        return written

    def _open(self) -> Callable[[bytes], int]:
        mode = os.fstat(self.descriptor).st_mode
        if stat.S_ISREG(mode):
            # A file never blocks, and other programs that write to it share its position.
            return lambda data: os.write(self.descriptor, data)
        if stat.S_ISSOCK(mode):
            sending = socket.socket(fileno=os.dup(self.descriptor))
            return lambda data: sending.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        try:
            self.descriptor = self._reopened()
        except (PermissionError, FileNotFoundError):
            # The pipe of another user, or no /proc.
            return self._put_if_ready
        return lambda data: os.write(self.descriptor, data)

    def _reopened(self) -> int:
        """Reopen the pipe or terminal, so that `O_NONBLOCK` applies to this process only."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
        opened = os.open(f"/proc/self/fd/{self.descriptor}", flags)
        with suppress(OSError):
            if fcntl.fcntl(opened, fcntl.F_GETPIPE_SZ) < PIPE_BYTES:
                fcntl.fcntl(opened, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        return opened

    def _put_if_ready(self, data: bytes) -> int:
        poll = select.poll()
        poll.register(self.descriptor, select.POLLOUT)
        if not poll.poll(0):
            raise BlockingIOError(errno.EAGAIN, "the reader does not read")
        return os.write(self.descriptor, data[:PIPE_BUF])


STANDARD_OUTPUT = Output(1)
STANDARD_ERROR = Output(2 if sys.__stderr__ else os.open(os.devnull, os.O_WRONLY))


class _LossyStream(io.RawIOBase):
    """A stream that drops what its output does not accept."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._output.fileno()

    def write(self, data: Any) -> int:
        with suppress(OSError):
            self._output.write(bytes(data))
        return len(data)


def protect_standard_error() -> None:
    """Replace `sys.stderr`, so that prints of Python, Django and libraries never block or fail.

    A terminal stays as it is, because its user wants whole tracebacks.
    """
    if _is_unprotected(sys.stderr, sys.__stderr__):
        sys.stderr = sys.__stderr__ = _stream(STANDARD_ERROR)  # type: ignore[misc] # so that Celery finds it too


def protect_standard_output() -> None:
    """Replace `sys.stdout` likewise, in programs that write only a log to it."""
    if _is_unprotected(sys.stdout, sys.__stdout__):
        sys.stdout = sys.__stdout__ = _stream(STANDARD_OUTPUT)  # type: ignore[misc] # so that Celery finds it too


def _is_unprotected(stream: Any, original: Any) -> bool:
    """Return whether `stream` is Python's own and no terminal: neither replaced here nor captured."""
    return bool(stream) and stream is original and not isinstance(stream.buffer, _LossyStream) and not stream.isatty()


def _stream(output: Output) -> io.TextIOWrapper:
    raw: Any = _LossyStream(output)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)
