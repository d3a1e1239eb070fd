"""All hosts of an installation: etcd, PostgreSQL, Redis, a proxy, web and worker hosts, a provider, and a merchant."""

import json
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from payments.embedded.processes import tail
from tests.figures.failover.cluster.etcd import Etcd
from tests.figures.failover.cluster.hosts import Host
from tests.figures.failover.cluster.kaha import PROVIDER_PORT, Kaha
from tests.figures.failover.cluster.namespaces import Network
from tests.figures.failover.cluster.patroni import Patroni
from tests.figures.failover.cluster.redis import Redis

START_SECONDS = 180
LOOK_SECONDS = 0.5
PASSWORDS = ("superuser-password", "replication-password", "redis-password", "database-password")
PROGRAMS = "tests.figures.failover.programs"


class Cluster:
    """The hosts and what is on them; `start` returns when everything is well."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.network, self._folder = network, folder
        self.hosts: list[Host] = []
        self._passwords = {name: secrets.token_urlsafe(16).replace("-", "x") for name in PASSWORDS}
        etcd, databases = self._add("etcd1", "etcd2", "etcd3"), self._add("pg1", "pg2", "pg3")
        self.etcd = Etcd(etcd)
        self.patroni = Patroni(databases, etcd, self._passwords)
        self.redis = Redis(self._add("redis1", "redis2"), etcd, self._passwords["redis-password"])
        [self._provider, self.client, front] = self._add("provider", "client", "front")
        self.kaha = Kaha(front, self._add("web1", "web2"), self._add("worker1", "worker2"), self._provider)

    def start(self) -> None:
        self.etcd.start()
        self.redis.start()
        self._require(lambda: self.etcd.is_well, "etcd")
        self.patroni.start(self._folder)
        self._require(lambda: self.patroni.is_well, "patroni")
        self.patroni.make_database()
        self._manage("migrate", "--no-input", "--verbosity", "0")
        provider = [sys.executable, "-m", f"{PROGRAMS}.provider", self._provider.address, str(PROVIDER_PORT)]
        self._provider.start("provider", provider)
        self.kaha.start(self.patroni, self.redis, self._passwords["database-password"])
        self._require(lambda: self.is_well, "kaha")

    @property
    def is_well(self) -> bool:
        return self.kaha.is_well and self.patroni.is_well and self.redis.is_well and self.etcd.is_well

    def start_load(self, seed: int, log: Path) -> None:
        """Have a merchant's programs send orders from a host of their own, until `stop_load`."""
        key = self.ask_database("shop")["key"]
        self.client.start("load", [sys.executable, "-m", f"{PROGRAMS}.load", self.kaha.url, key, str(seed), str(log)])

    def ask_database(self, what: str) -> Any:
        """Return what `programs.database` prints."""
        return json.loads(self.client.run([sys.executable, "-m", f"{PROGRAMS}.database", what], **self._environment))

    def wait(self, seconds: float, condition: Callable[[], bool] = lambda: False) -> bool:
        """Start what has ended, as service managers do, until `condition` holds; return False if it never did."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            for host in self.hosts:
                host.supervise()
            time.sleep(LOOK_SECONDS)
        return True

    def resume(self) -> None:
        """Have every host continue that was stalled."""
        for host in self.hosts:
            if host.is_down:
                host.resume()

    @property
    def _environment(self) -> dict[str, str]:
        return self.kaha.environment(self.patroni, self.redis)

    def _manage(self, *arguments: str) -> None:
        self.client.run([sys.executable, "manage.py", *arguments], **self._environment)

    def _require(self, condition: Callable[[], bool], what: str) -> None:
        if not self.wait(START_SECONDS, condition):
            logs = [f"{path}:\n{chr(10).join(tail(path, 5))}" for path in sorted(self._folder.glob("*/*.log"))]
            raise RuntimeError(f"{what} does not start.\n" + "\n".join(logs))

    def _add(self, *names: str) -> list[Host]:
        made = [Host(self.network, name, self._folder) for name in names]
        self.hosts += made
        return made


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Yield an installation whose files are below `folder`; nothing of it is left after the block."""
    folder.mkdir(mode=0o755)
    network = Network()
    try:
        network.make()
        yield Cluster(network, folder)
    finally:
        network.remove()
