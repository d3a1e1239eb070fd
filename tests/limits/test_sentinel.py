"""Redis with Sentinel: where the master ends, rate counters and tasks use the new one."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from redis import Redis, RedisError
from redis.sentinel import Sentinel

from config.boot.addresses import broker_of
from payments.embedded import redis_server
from payments.embedded.processes import wait_until
from payments.quickstart.ports import HOST
from payments.redis_client.pipeline import RedisPipeline
from payments.redis_client.rate_counters import Counters
from payments.webhooks.wake_up import TaskSender
from tests.deploy.conftest import make_certificate
from tests.support.processes import Program, free_port, running

pytestmark = pytest.mark.long

SERVICE, PASSWORD = "kaha", "halo-halo"  # pragma: allowlist secret
PATIENCE_SECONDS = 60


class Group:
    """Two Redis servers, of which one is the master, and three Sentinels."""

    def __init__(self, folder: Path, stack: ExitStack, *, tls: bool) -> None:
        self._folder, self._stack = folder, stack
        self.tls: dict[str, Any] = {}
        if tls:
            make_certificate(folder / "tls")
            self.tls = {"ssl": True, "ssl_ca_certs": str(folder / "tls" / "fullchain.pem")}
        ports = [free_port() for _ in range(5)]
        self.servers, self.sentinels = ports[:2], ports[2:]
        self._programs: dict[int, Program] = {}

    @property
    def url(self) -> str:
        nodes = ",".join(f"{HOST}:{port}" for port in self.sentinels)
        if self.tls:
            return f"rediss+sentinel://:{PASSWORD}@{nodes}/{SERVICE}/2?ssl_ca_certs={self.tls['ssl_ca_certs']}"
        return f"redis+sentinel://:{PASSWORD}@{nodes}/{SERVICE}/2"

    def start(self) -> None:
        first, second = self.servers
        own = f'requirepass {PASSWORD}\nmasterauth {PASSWORD}\nsave ""\n'
        self._run(first, own)
        self._run(second, f"{own}replicaof {HOST} {first}\n")
        watched = (
            f"sentinel monitor {SERVICE} {HOST} {first} 2\nsentinel auth-pass {SERVICE} {PASSWORD}\n"
            f"sentinel down-after-milliseconds {SERVICE} 2000\nsentinel failover-timeout {SERVICE} 3000\n"
        )
        for port in self.sentinels:
            self._run(port, watched, "--sentinel")
        assert wait_until(self._is_whole, PATIENCE_SECONDS)

    def kill_master(self) -> None:
        self._programs[self.master()[1]].kill()

    def master(self) -> tuple[str, int]:
        found: tuple[str, int] = self._sentinel().discover_master(SERVICE)
        return found

    def _sentinel(self) -> Sentinel:
        return Sentinel([(HOST, port) for port in self.sentinels], sentinel_kwargs=self.tls)

    def _is_whole(self) -> bool:
        try:
            state = Redis(HOST, self.sentinels[0], **self.tls).sentinel_master(SERVICE)
            replicas = self._sentinel().discover_slaves(SERVICE)
        except RedisError:
            return False
        return state["num-other-sentinels"] == 2 and len(replicas) == 1

    def _run(self, port: int, lines: str, *arguments: str) -> None:
        file = self._folder / f"{port}.conf"
        listens = self._listens_with_tls(port) if self.tls else f"port {port}"
        file.write_text(f"{listens}\nbind {HOST}\ndir {self._folder}\n{lines}")
        command = [self._program(), file, *arguments]
        self._programs[port] = self._stack.enter_context(running(command, log=self._folder / f"{port}.log"))

    def _listens_with_tls(self, port: int) -> str:
        own = self._folder / "tls"
        files = (
            f"tls-cert-file {own}/fullchain.pem\ntls-key-file {own}/privkey.pem\ntls-ca-cert-file {own}/fullchain.pem"
        )
        return f"port 0\ntls-port {port}\n{files}\ntls-auth-clients no\ntls-replication yes"

    def _program(self) -> str | Path:
        if self.tls:
            # The embedded one was built without TLS.
            return shutil.which("redis-server", path="/usr/bin") or pytest.skip("no redis-server is installed")
        return redis_server.program()


@pytest.fixture(params=["plain", "tls"])
def group(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Group]:
    with ExitStack() as stack:
        made = Group(tmp_path, stack, tls=request.param == "tls")
        made.start()
        yield made


def test_counters_continue_in_the_new_master(group: Group, who: str) -> None:
    counters = Counters(group.url, retry_seconds=0.05)

    def counting_port() -> int:
        """Return the port of the master that has the count, 0 if none has."""
        counters.increment(who, 600)
        try:
            host, port = group.master()
            return port if Redis(host, port, db=2, password=PASSWORD, **group.tls).get(f"kaha:{who}") else 0
        except RedisError:
            return 0

    assert counting_port() == group.servers[0]
    group.kill_master()

    assert wait_until(lambda: counting_port() == group.servers[1], PATIENCE_SECONDS)
    counters.breaker.close()


def test_a_worker_is_woken_through_the_new_master(group: Group, settings) -> None:
    url, settings.CELERY_BROKER_TRANSPORT_OPTIONS = broker_of(group.url)
    send = TaskSender(url, "settle_due")

    def is_sent() -> bool:
        try:
            send()
        except Exception:  # noqa: BLE001 # whatever it raises, BackgroundCall tries again
            return False
        return True

    assert wait_until(is_sent, PATIENCE_SECONDS)
    group.kill_master()
    assert wait_until(is_sent, PATIENCE_SECONDS)
    consumer = Celery("consumer", broker=url, set_as_current=False)
    consumer.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    with consumer.connection_for_read() as connection:
        message = connection.SimpleQueue("celery").get(timeout=PATIENCE_SECONDS)
        assert (message.headers["task"], message.payload[0]) == ("payments.tasks.run_sweep", ["settle_due"])
        message.ack()


@pytest.mark.parametrize("group", ["tls"], indirect=True)
def test_sentinels_with_an_untrusted_certificate_are_not_used(group: Group, settings) -> None:
    assert RedisPipeline(group.url).ask([("PING",)])
    url = group.url.partition("?")[0]
    with pytest.raises(RedisError):
        RedisPipeline(url).ask([("PING",)])
    broker, settings.CELERY_BROKER_TRANSPORT_OPTIONS = broker_of(url)
    with pytest.raises(Exception, match=r"."):
        TaskSender(broker, "settle_due")()
