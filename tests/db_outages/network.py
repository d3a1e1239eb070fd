"""A network of its own, in which packets vanish as when a host is unplugged: nothing is refused, and nothing ends."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from tests.support.processes import running

PORT = 5432
NUMBERS = count()


class Network:
    """A namespace with an address, from which answers come until it is cut."""

    def __init__(self) -> None:
        unique = f"{os.getpid()}-{next(NUMBERS)}"
        self.name, self._link = f"kaha-{unique}", f"v{unique}"
        # One of 2^14 networks of four addresses, so that tests at the same time have their own.
        number = os.getpid() % 2**14 * 4
        prefix = f"10.213.{number // 256}"
        self.ours, self.address = f"{prefix}.{number % 256 + 1}", f"{prefix}.{number % 256 + 2}"

    def make(self) -> None:
        _ip("netns", "add", self.name)
        _ip("link", "add", self._link, "type", "veth", "peer", "name", "inside", "netns", self.name)
        for network, link, address in (("", self._link, self.ours), (self.name, "inside", self.address)):
            inside = ["-n", network] if network else []
            _ip(*inside, "address", "add", f"{address}/30", "dev", link)
            _ip(*inside, "link", "set", link, "up")

    def delete(self) -> None:
        # At once, where the namespace goes only after its last process.
        _ip("link", "delete", self._link)
        _ip("netns", "delete", self.name)

    def cut(self) -> None:
        _ip("-n", self.name, "route", "add", "blackhole", f"{self.ours}/32")

    def mend(self) -> None:
        with suppress(subprocess.CalledProcessError):
            _ip("-n", self.name, "route", "del", "blackhole", f"{self.ours}/32")


def _ip(*arguments: str) -> None:
    program = shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if program is None or os.geteuid():
        pytest.skip("a network needs root and ip (Debian: iproute2)")
    subprocess.run([program, *arguments], check=True, capture_output=True)


@contextmanager
def network_before(unix_socket: Path, folder: Path) -> Iterator[Network]:
    """Yield a network in which PORT leads to the server on `unix_socket`."""
    network = Network()
    network.make()
    inside = ["ip", "netns", "exec", network.name, sys.executable, "-m", "tests.support.relay"]
    relay = [*inside, unix_socket, network.address, PORT]
    environment = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    log = folder / "network.log"
    try:
        with running(relay, log=log, ready=r"\n", environment=environment, stdin=subprocess.PIPE):
            yield network
    finally:
        network.delete()
