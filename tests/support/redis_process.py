"""A Redis of a test's own, which can be killed, paused and started again on the same socket."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from payments.embedded import redis_server
from payments.embedded.folders import drop_temporary_folder, make_running_folders, prepare
from tests.support.processes import Program


class RedisProcess:
    """Listens on one socket, with one process behind it after the other."""

    def __init__(self, data: Path) -> None:
        self.folders = prepare(data)
        make_running_folders(self.folders)
        self.url = redis_server.url(self.folders)
        self._program: Program | None = None

    @property
    def program(self) -> Program:
        """Return the process that runs."""
        assert self._program
        return self._program

    def start(self) -> None:
        self._program = Program(redis_server.start(self.folders), self.folders.log("redis"))
        self._program.wait_until(lambda: redis_server.is_ready(self.folders))

    def stop(self) -> None:
        """End the process if there is one; Redis has nothing to keep."""
        if self._program:
            self._program.kill()
        self._program = None

    def has_listener(self) -> bool:
        """Return whether a worker waits for messages."""
        with redis.Redis.from_url(self.url, socket_timeout=2) as client:
            return any(each["cmd"] == "brpop" for each in client.client_list())


@contextmanager
def own_redis(data: Path, *, started: bool = True) -> Iterator[RedisProcess]:
    """Yield a Redis with its socket below `data`."""
    server = RedisProcess(data)
    if started:
        server.start()
    try:
        yield server
    finally:
        server.stop()
        drop_temporary_folder(server.folders)
