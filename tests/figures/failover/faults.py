"""What fails, and how: killed, stalled, or cut off from the network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.figures.failover.cluster.cluster import Cluster
from tests.figures.failover.cluster.hosts import Host

Target = Callable[[Cluster], Host | None]

TARGETS: Mapping[str, Target] = {
    "primary": lambda cluster: cluster.patroni.primary(),
    "standby": lambda cluster: cluster.patroni.standby(),
    "etcd": lambda cluster: cluster.etcd.leader(),
    "redis": lambda cluster: cluster.redis.master(),
    "web": lambda cluster: cluster.kaha.webs[0],
    "worker": lambda cluster: cluster.kaha.workers[0],
}
PARTS_OF_HOSTS = {"pgbouncer": TARGETS["web"]}


@dataclass(frozen=True)
class Fault:
    """`begin` returns the name of the host it happened to; without an `end` the service manager mends it."""

    begin: Callable[[Cluster], str]
    end: Callable[[Cluster], None] | None = None


def _killed(target: Target, service: str = "") -> Fault:
    def begin(cluster: Cluster) -> str:
        host = _found(target, cluster)
        host.kill(service)
        return host.name

    return Fault(begin)


def _stalled(target: Target, service: str = "") -> Fault:
    def begin(cluster: Cluster) -> str:
        host = _found(target, cluster)
        host.stall(service)
        return host.name

    return Fault(begin, lambda cluster: cluster.resume())


def _unplugged(target: Target) -> Fault:
    def begin(cluster: Cluster) -> str:
        host = _found(target, cluster)
        host.unplug()
        return host.name

    return Fault(begin, lambda cluster: cluster.network.mend())


def _separated(target: Target, others: Callable[[Cluster], list[Host]]) -> Fault:
    def begin(cluster: Cluster) -> str:
        host = _found(target, cluster)
        host.separate([other for other in others(cluster) if other is not host])
        return host.name

    return Fault(begin, lambda cluster: cluster.network.mend())


def _found(target: Target, cluster: Cluster) -> Host:
    host = target(cluster)
    if host is None:
        raise RuntimeError("There is no such host at the moment.")
    return host


FAULTS: Mapping[str, Fault] = {
    **{
        f"{name}-{kind}": make(target)
        for name, target in TARGETS.items()
        for kind, make in (("kill", _killed), ("stall", _stalled), ("unplug", _unplugged))
    },
    **{
        f"{name}-{kind}": make(target, name)
        for name, target in PARTS_OF_HOSTS.items()
        for kind, make in (("kill", _killed), ("stall", _stalled))
    },
    "network-etcd": _separated(TARGETS["primary"], lambda cluster: list(cluster.etcd.hosts)),
    "network-standbys": _separated(TARGETS["primary"], lambda cluster: list(cluster.patroni.hosts)),
}
OF_THE_PRIMARY = [name for name in FAULTS if name.startswith("primary-")]


def in_turn(only: list[str], rounds: int) -> list[str]:
    """Return the names of the faults in their order: those of the primary `rounds` times in all, the others once."""
    of_primary = [name for name in OF_THE_PRIMARY if name in only]
    others = [name for name in only if name not in of_primary]
    return [of_primary[number % len(of_primary)] for number in range(rounds) if of_primary] + others
