"""A log that a collector reads, or does not."""

import os
import threading
from contextlib import suppress
from pathlib import Path

READ_BYTES = 65536


class Log:
    """A FIFO at `path`, to be given to a program as its log; `kept` is what was read of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept = bytearray()
        self._reader: int | None = None
        self._stopped = threading.Event()
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        self._open()

    def read(self) -> None:
        """Read on, as a collector does that has been started again."""
        if self._reader is None:
            self._open()
        elif self._stopped.is_set():
            self._start_thread()

    def pause(self) -> None:
        """Keep the log open and read nothing more, so that it fills up."""
        self._stopped.set()
        self._thread.join()

    def close(self) -> None:
        """End the reader: each write fails with EPIPE."""
        self.pause()
        if self._reader is not None:
            os.close(self._reader)
            self._reader = None

    def _open(self) -> None:
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self._start_thread()

    def _start_thread(self) -> None:
        self._stopped.clear()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        assert self._reader is not None
        while not self._stopped.wait(0.02):
            with suppress(BlockingIOError):
                while data := os.read(self._reader, READ_BYTES):
                    self.kept += data
