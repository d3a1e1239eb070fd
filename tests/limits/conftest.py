"""A Redis server that a test starts, stops and freezes."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from payments.embedded import redis_server
from payments.embedded.folders import Folders, drop_temporary_folder, make_running_folders, prepare
from payments.embedded.processes import wait_until


class OwnRedis:
    """A Redis server for one test."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self.url = redis_server.url(folders)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = redis_server.start(self.folders)
        assert wait_until(lambda: redis_server.is_ready(self.folders), 10)

    def stop(self) -> None:
        if self.process:
            redis_server.stop_server(self.process)
        self.process = None

    def hang(self) -> None:
        """Stop answering, with all connections open, until `resume`."""
        assert self.process
        os.kill(self.process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process
        os.kill(self.process.pid, signal.SIGCONT)


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    """Yield a Redis server that is not started yet."""
    folders = prepare(tmp_path)
    make_running_folders(folders)
    server = OwnRedis(folders)
    yield server
    server.stop()
    drop_temporary_folder(folders)


@pytest.fixture
def who() -> str:
    """Return a subject that was never counted."""
    return uuid4().hex
