"""Three etcd, by config/deploy/cluster/etcd.env."""

import json
import urllib.request
from collections.abc import Sequence
from contextlib import suppress

from tests.figures.failover.cluster.hosts import Host
from tests.figures.failover.cluster.parts import filled_in

SAMPLE = {"etcd1": "10.0.0.11", "etcd2": "10.0.0.12", "etcd3": "10.0.0.13"}


class Etcd:
    """The hosts of etcd."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self.hosts = hosts

    def start(self) -> None:
        addresses = {sample: host.address for sample, host in zip(SAMPLE.values(), self.hosts, strict=True)}
        for name, host in zip(SAMPLE, self.hosts, strict=True):
            own = {"/var/lib/etcd/kaha": str(host.folder / "etcd")}
            lines = filled_in("cluster/etcd.env", addresses | own, host).read_text()
            settings = dict(line.split("=", 1) for line in lines.splitlines() if line.startswith("ETCD_"))
            # The lines of the first one are its own.
            ours = {"ETCD_NAME": name} | {
                key: value.replace(self.hosts[0].address, host.address)
                for key, value in settings.items()
                if key.endswith("_URLS")
            }
            host.start("etcd", ["etcd"], environment=settings | ours)

    def leader(self) -> Host | None:
        """Return the host whose etcd leads the others."""
        return next((host for host in self.hosts if host.call(lambda host=host: _leads(host))), None)

    @property
    def is_well(self) -> bool:
        return all(host.call(lambda host=host: _is_healthy(host)) for host in self.hosts)


def _leads(host: Host) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://{host.address}:2379/metrics", timeout=2) as answer:
        return b"\netcd_server_is_leader 1\n" in answer.read()
    return False


def _is_healthy(host: Host) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://{host.address}:2379/health", timeout=2) as answer:
        return bool(json.loads(answer.read())["health"] == "true")
    return False
