"""Two Redis and three Sentinels, by config/deploy/cluster/redis.conf and sentinel.conf."""

from collections.abc import Sequence
from contextlib import suppress

from redis import Redis as Client
from redis.exceptions import RedisError

from tests.figures.failover.cluster.hosts import Host
from tests.figures.failover.cluster.parts import filled_in

SERVICE, PORT, SENTINEL_PORT = "kaha", 6379, 26379
FIRST = "10.0.0.21"


class Redis:
    """The hosts of Redis, of which one is the master, and those of the Sentinels."""

    def __init__(self, hosts: Sequence[Host], sentinels: Sequence[Host], password: str) -> None:
        self.hosts, self._sentinels, self._password = hosts, sentinels, password

    def start(self) -> None:
        words = {"redis-password": self._password, FIRST: self.hosts[0].address}
        for number, host in enumerate(self.hosts):
            follows = ["--replicaof", self.hosts[0].address, str(PORT)] if number else []
            file = filled_in("cluster/redis.conf", words, host)
            # So that Sentinel's changes are there after a restart.
            host.start("redis", ["redis-server", str(file), "--dir", str(host.folder), *follows])
        for host in self._sentinels:
            host.start("sentinel", ["redis-sentinel", str(filled_in("cluster/sentinel.conf", words, host))])

    @property
    def url(self) -> str:
        nodes = ",".join(f"{host.address}:{SENTINEL_PORT}" for host in self._sentinels)
        return f"redis+sentinel://:{self._password}@{nodes}/{SERVICE}/0"

    def master(self) -> Host | None:
        """Return the host that a Sentinel calls the master, if its Redis says so too and has a replica."""
        for host in self._sentinels:
            with suppress(RedisError, OSError):
                address, _ = host.call(lambda host=host: _ask_sentinel(host.address))
                found = next(each for each in self.hosts if each.address == address)
                replication = found.call(lambda found=found: self._replication(found.address))
                if replication["role"] == "master" and int(replication["connected_slaves"]):
                    return found
        return None

    @property
    def is_well(self) -> bool:
        return self.master() is not None

    def _replication(self, address: str) -> dict[str, str]:
        with Client(host=address, password=self._password, socket_timeout=2, decode_responses=True) as client:
            return dict(client.info("replication"))


def _ask_sentinel(address: str) -> tuple[str, str]:
    with Client(host=address, port=SENTINEL_PORT, socket_timeout=2, decode_responses=True) as client:
        found: tuple[str, str] = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)
        return found
