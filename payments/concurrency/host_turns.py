"""Turns of a host: of all its processes, few do at the same moment what keeps a CPU for long."""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from tempfile import gettempdir

# A turn is the lock of a file, which the processes of one user share; the kernel takes it back when a process ends.
# With half as many turns as CPUs, the other half answers the API. Beside a crowd of people, the 99th percentile of
# others is 2 to 3 times the quiet one, and 4 to 5 times without turns.
FOLDER = Path(gettempdir()) / f"kaha-turns-{os.getuid()}"


def files_for(cpus: int) -> list[Path]:
    """Return the files of the turns of a host with so many CPUs."""
    return [FOLDER / f"turn-{number}" for number in range(max(1, cpus // 2))]


FILES = files_for(os.cpu_count() or 1)
# A process that hangs delays the others by no more.
MOST_SECONDS = 1.0
POLL_SECONDS = 0.002


@contextmanager
def host_turn() -> Iterator[None]:
    """Hold a turn while the block runs; where none is free for MOST_SECONDS, run it all the same."""
    with ExitStack() as opened:
        ends_at = time.monotonic() + MOST_SECONDS
        try:
            files = [opened.enter_context(_opened(file)) for file in FILES]
            while not any(map(_takes, files)) and time.monotonic() < ends_at:
                time.sleep(POLL_SECONDS)
        except OSError:
            # A host without such files or locks bounds nobody.
            pass
        yield


@contextmanager
def _opened(file: Path) -> Iterator[int]:
    """Open the file, which is made at first use. Raise OSError where it is not in a folder of this user."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    if file.parent.lstat().st_uid != os.getuid():
        raise PermissionError(file.parent)
    descriptor = os.open(file, os.O_CREAT | os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _takes(file: int) -> bool:
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True
