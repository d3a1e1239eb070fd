"""What a killed owner leaves behind: a server still stopping, or a PID file that names somebody else."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from payments.quickstart.servers.errors import EmbeddedError
from payments.quickstart.servers.processes import wait_until


def clear(cluster: Path, socket_folder: Path) -> None:
    """End a server of this cluster that nobody owns any more, and drop PID files that name a stranger.

    Only for the holder of the data folder's lock. Raises EmbeddedError if the old server does not go.
    """
    for file in (cluster / "postmaster.pid", socket_folder / ".s.PGSQL.5432.lock"):
        pid = _pid_in(file)
        if pid is None:
            continue
        if serves(pid, cluster):
            _end(pid, cluster)
        elif Path(f"/proc/{pid}").exists():
            # PostgreSQL takes any process with that number for its own, even one that only waits to be reaped.
            file.unlink(missing_ok=True)


def _pid_in(file: Path) -> int | None:
    try:
        return int(file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None


def serves(pid: int, cluster: Path) -> bool:
    """Whether the process is alive and a server of this cluster."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return os.fsencode(cluster) in arguments


def _end(pid: int, cluster: Path) -> None:
    for number, timeout_seconds in ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        if wait_until(lambda: not serves(pid, cluster), timeout_seconds):
            return
    raise EmbeddedError(f"an old PostgreSQL, process {pid}, does not stop: end it and start again.")
