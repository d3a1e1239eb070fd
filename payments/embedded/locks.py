"""File locks of a data folder.

- `server.lock`: held by the process that runs the servers
- `users.lock`: shared by the commands that use the servers of another command
"""

import fcntl
import os
from pathlib import Path

from payments.embedded.processes import EmbeddedError


class FileLock:
    """A flock(2) on a file, which the kernel releases when this process ends; its programs do not inherit it.

    Raises EmbeddedError where the file cannot be opened.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise EmbeddedError(f"the data folder {file.parent} cannot be used: {error}") from error

    def take(self, operation: int = fcntl.LOCK_EX) -> bool:
        """Take the lock, alone or with LOCK_SH shared; return False where another process is in the way."""
        try:
            fcntl.flock(self._descriptor, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait(self) -> None:
        """Take the lock alone as soon as all others have released it."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def release(self) -> None:
        """Release the lock, ready to be taken again."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def write_owner(self, command: str) -> None:
        """Write to the file which command of this process holds the lock."""
        os.truncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"process {os.getpid()} ({command})".encode(), 0)

    def owner(self) -> str:
        """Return what `write_owner` has written."""
        return os.pread(self._descriptor, 200, 0).decode()

    def close(self) -> None:
        """Release the lock for good."""
        os.close(self._descriptor)
