"""What reads a program's log: it can go away, come back, and stop reading while it stays."""

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from config.logs.outputs import PIPE_BYTES


class Collector:
    """Reads the named pipe `path`, in which the log of any number of programs ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self._reader: int | None = None
        self._read = b""
        self.come()

    def come(self) -> None:
        """Start to read, for the first time or again."""
        if self._reader is not None:
            self.text()
            return
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        # The most there is: a program that makes room for more must find a full pipe full.
        fcntl.fcntl(self._reader, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def go(self) -> None:
        """Close the reading end: later writes get EPIPE."""
        if self._reader is not None:
            os.close(self._reader)
        self._reader = None

    def stall(self) -> None:
        """Stop to read, with the pipe full: a blocking write would wait for ever."""
        self.text()
        writer = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        for size in (os.fpathconf(writer, "PC_PIPE_BUF"), 1):
            with suppress(BlockingIOError):
                while True:
                    os.write(writer, b"\n" * size)
        os.close(writer)

    def text(self) -> str:
        """Return all that was read so far, this moment's too."""
        with suppress(BlockingIOError):
            while self._reader is not None and (data := os.read(self._reader, 1_000_000)):
                self._read += data
        return self._read.decode()

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines of JSON; other programs also write other lines."""
        return [json.loads(line) for line in self.text().splitlines() if line.startswith("{")]

    def lost(self) -> int:
        """Return how many lines were said to be lost."""
        return sum(line["lost"] for line in self.lines() if line["message"] == "Log lines were lost.")
