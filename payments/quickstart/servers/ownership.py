"""Who runs the servers of a data folder: one owner at a time, and the commands that use the owner's servers.

The owner holds `server.lock` while it runs the servers; the kernel takes it back however the owner ends.
A command that has joined shares `users.lock`; an owner that is a command waits for those before it stops.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from payments.quickstart.servers.errors import EmbeddedError


class FileLock:
    """A flock(2) on a file, ours until this process ends at the latest; its programs do not inherit it.

    Raises EmbeddedError where the file cannot be opened.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EmbeddedError(f"the data folder {file.parent} cannot be used: {error}") from error

    def try_alone(self) -> bool:
        """Take it for ourselves only; False where somebody else has it."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Take it together with others; False where somebody has it for himself."""
        return self._try(fcntl.LOCK_SH)

    def wait_alone(self) -> None:
        """Take it for ourselves as soon as all others have let go."""
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def let_go(self) -> None:
        """Give it back, ready to be taken again."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def write(self, text: str) -> None:
        """Replace what the file says, for whoever reads it."""
        os.truncate(self._file, 0)
        os.pwrite(self._file, text.encode(), 0)

    def read(self) -> str:
        """What the file says."""
        return os.pread(self._file, 200, 0).decode()

    def release(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _try(self, operation: int) -> bool:
        with suppress(BlockingIOError):
            fcntl.flock(self._file, operation | fcntl.LOCK_NB)
            return True
        return False


def owner_lock(data: Path) -> FileLock:
    """The lock of whoever runs the servers; it says who that is."""
    return FileLock(data / "server.lock")


def users_lock(data: Path) -> FileLock:
    """The lock of those who use the servers."""
    return FileLock(data / "users.lock")
