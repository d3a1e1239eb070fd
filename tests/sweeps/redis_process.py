"""A Redis of a test's own, which can be killed, stalled and replaced."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from payments.embedded import redis_server
from payments.embedded.folders import make_running_folders, prepare
from payments.embedded.processes import stop, wait_until


class RedisProcess:
    """Listens on one socket, whichever process is behind it."""

    def __init__(self, folder: Path) -> None:
        self._places = prepare(folder)
        make_running_folders(self._places)
        self.url = redis_server.url(self._places)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = redis_server.start(self._places)
        assert wait_until(lambda: redis_server.is_ready(self._places), 10)

    def kill(self) -> None:
        if self._process:
            stop(self._process, timeout_seconds=0, first=signal.SIGKILL)
            self._process = None

    def stall(self) -> None:
        """Stop the process as it is: it accepts connections and answers nothing."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def proceed(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def has_listener(self) -> bool:
        """Return whether a worker waits for messages."""
        with redis.Redis.from_url(self.url, socket_timeout=2) as client:
            return any(each["cmd"] == "brpop" for each in client.client_list())


@contextmanager
def own_redis(folder: Path) -> Iterator[RedisProcess]:
    server = RedisProcess(folder)
    server.start()
    yield server
    server.kill()
