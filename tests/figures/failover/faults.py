"""What fails, and how: killed, stalled, or cut off from the network."""

from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True)
class Fault:
    """`begin` returns the name of the host it happened to; without an `end` the service manager mends it."""

    begin: Callable[[Cluster], str]
    end: Callable[[Cluster], None] | None = None


Happens = Callable[[Host, Cluster], None]
End = Callable[[Cluster], None] | None


def _mend(cluster: Cluster) -> None:
    cluster.network.mend()


KILLED: tuple[Happens, End] = (lambda host, _: host.kill(), None)
STALLED: tuple[Happens, End] = (lambda host, _: host.stall(), Cluster.resume)
UNPLUGGED: tuple[Happens, End] = (lambda host, _: host.unplug(), _mend)


def _fault(target: Target, happens: Happens, end: End) -> Fault:
    def begin(cluster: Cluster) -> str:
        host = target(cluster)
        if host is None:
            raise RuntimeError("There is no such host at the moment.")
        happens(host, cluster)
        return host.name

    return Fault(begin, end)


def _separated(others: Callable[[Cluster], Sequence[Host]]) -> Fault:
    def happens(host: Host, cluster: Cluster) -> None:
        host.separate([other for other in others(cluster) if other is not host])

    return _fault(TARGETS["primary"], happens, _mend)


FAULTS: Mapping[str, Fault] = {
    **{
        f"{name}-{kind}": _fault(target, *happens)
        for name, target in TARGETS.items()
        for kind, happens in (("kill", KILLED), ("stall", STALLED), ("unplug", UNPLUGGED))
    },
    "pgbouncer-kill": _fault(TARGETS["web"], lambda host, _: host.kill("pgbouncer"), None),
    "pgbouncer-stall": _fault(TARGETS["web"], lambda host, _: host.stall("pgbouncer"), Cluster.resume),
    "network-etcd": _separated(lambda cluster: cluster.etcd.hosts),
    "network-standbys": _separated(lambda cluster: cluster.patroni.hosts),
}
OF_THE_PRIMARY = [name for name in FAULTS if name.startswith("primary-")]


def in_turn(only: list[str], rounds: int) -> list[str]:
    """Return the names of the faults in their order: those of the primary `rounds` times in all, the others once."""
    of_primary = [name for name in OF_THE_PRIMARY if name in only]
    others = [name for name in only if name not in of_primary]
    return [of_primary[number % len(of_primary)] for number in range(rounds) if of_primary] + others
