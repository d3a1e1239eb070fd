"""A Redis server that a test starts, stops and freezes."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from payments.quickstart.servers import redis_server
from payments.quickstart.servers.places import Places, drop_temporary_folder, make_running_folders, prepare
from payments.quickstart.servers.processes import wait_until


class OwnRedis:
    """A Redis server for one test."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.url = redis_server.url(places)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = redis_server.start(self.places)
        assert wait_until(lambda: redis_server.is_ready(self.places), 10)

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
    places = prepare(tmp_path)
    make_running_folders(places)
    server = OwnRedis(places)
    yield server
    server.stop()
    drop_temporary_folder(places)


@pytest.fixture
def who() -> str:
    """Return a subject that was never counted."""
    return uuid4().hex
