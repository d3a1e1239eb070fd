"""A private network of two hosts, and a public one, from which the service host alone is reached."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from signal import SIGKILL
from subprocess import CalledProcessError
from uuid import uuid4

from payments.embedded.processes import wait_until
from tests.figures.failover.cluster.namespaces import ip, processes_in, send

DATABASE, SERVICE = "10.0.0.1", "10.0.0.2"
SERVICE_IN_PUBLIC, CLIENT = "203.0.113.5", "203.0.113.9"
LINKS = (
    ("private", {"database": DATABASE, "service": SERVICE}),
    ("public", {"service": SERVICE_IN_PUBLIC, "client": CLIENT}),
)


@contextmanager
def network() -> Iterator[dict[str, str]]:
    """Yield a namespace by the name of each host; at the end whatever runs in them is killed."""
    names = {place: f"kaha-{uuid4().hex[:8]}-{place}" for place in ("database", "service", "client")}
    try:
        for namespace in names.values():
            ip("netns", "add", namespace)
            ip("-n", namespace, "link", "set", "lo", "up")
        for device, ends in LINKS:
            _link(device, {names[place]: address for place, address in ends.items()})
        yield names
    finally:
        for namespace in names.values():
            with suppress(CalledProcessError):
                _remove(namespace)


def _link(device: str, ends: dict[str, str]) -> None:
    one, other = ends
    ip("link", "add", device, "netns", one, "type", "veth", "peer", "name", device, "netns", other)
    for namespace, address in ends.items():
        ip("-n", namespace, "address", "add", f"{address}/24", "dev", device)
        ip("-n", namespace, "link", "set", device, "up")


def _remove(namespace: str) -> None:
    send(processes_in(namespace), SIGKILL)
    wait_until(lambda: not processes_in(namespace), 10)
    ip("netns", "delete", namespace)
