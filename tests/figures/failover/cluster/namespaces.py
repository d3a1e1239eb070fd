"""Hosts as network namespaces around a router, in which packets vanish as when a cable is pulled."""

import ctypes
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

PREFIX = "kaha-failover"
NETWORK = "10.214.0.0/16"
CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)

Result = TypeVar("Result")


def ip(*arguments: str) -> str:
    """Run iproute2's `ip`; return its output. Raises CalledProcessError."""
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True).stdout


class Network:
    """A router, and the hosts around it. Nothing of it is in the machine's own network."""

    def __init__(self) -> None:
        self.router = f"{PREFIX}-{os.getpid()}-router"
        self.namespaces: list[str] = []

    def make(self) -> None:
        remove_leftovers()
        self._add(self.router)
        subprocess.run([*_inside(self.router), "sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)

    def add_host(self, name: str) -> tuple[str, str]:
        """Return the namespace of a new host, and its address."""
        number = len(self.namespaces)
        namespace, link = f"{PREFIX}-{os.getpid()}-{name}", f"to{number}"
        gateway, address = f"10.214.{number}.1", f"10.214.{number}.2"
        self._add(namespace)
        ip("link", "add", link, "netns", self.router, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        for inside, device, own in ((self.router, link, gateway), (namespace, "eth0", address)):
            ip("-n", inside, "address", "add", f"{own}/30", "dev", device)
            ip("-n", inside, "link", "set", device, "up")
        ip("-n", namespace, "route", "add", "default", "via", gateway)
        return namespace, address

    def cut(self, address: str, others: Iterable[str] = (NETWORK,)) -> None:
        """Have every packet between `address` and the `others` vanish."""
        for other in others:
            ip("-n", self.router, "rule", "add", "from", address, "to", other, "pref", "100", "blackhole")
            ip("-n", self.router, "rule", "add", "from", other, "to", address, "pref", "100", "blackhole")

    def mend(self) -> None:
        """Have all packets arrive again."""
        with suppress(subprocess.CalledProcessError):
            while True:
                ip("-n", self.router, "rule", "delete", "pref", "100")

    def remove(self) -> None:
        """End every process in the namespaces, and delete these."""
        for namespace in self.namespaces:
            _remove(namespace)
        self.namespaces.clear()

    def _add(self, namespace: str) -> None:
        self.namespaces.append(namespace)
        ip("netns", "add", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")


def command_in(namespace: str, command: Sequence[str], user: str = "") -> list[str]:
    """Return the command that runs another one in a namespace, and as a user; it takes the place of its process."""
    # A change of user clears the signal by which a process ends with its parent.
    as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--pdeathsig=KILL", "--"]
    return [*_inside(namespace), *(as_user if user else []), *command]


def processes_in(namespace: str) -> set[int]:
    """Return the IDs of the processes in a namespace."""
    return {int(line) for line in ip("netns", "pids", namespace).split()}


def send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        # It may have ended meanwhile.
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def call_in(namespace: str, function: Callable[[], Result]) -> Result:
    """Return what `function` returns in a thread whose sockets are in a namespace; raise what it raises."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with entered(namespace):
                results.append(function())
        except BaseException as error:  # noqa: BLE001 # raised in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def entered(namespace: str) -> Iterator[None]:
    """Have the sockets of this thread, and the programs that it starts, in a namespace until the block ends."""
    with Path("/proc/thread-self/ns/net").open() as before, Path(f"/var/run/netns/{namespace}").open() as there:
        _enter(there.fileno())
        try:
            yield
        finally:
            _enter(before.fileno())


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def remove_leftovers() -> None:
    """Remove the namespaces of runs that were killed."""
    for line in ip("netns", "list").splitlines():
        namespace = line.split(" ")[0]
        owner = namespace.removeprefix(f"{PREFIX}-").split("-")[0]
        if namespace.startswith(f"{PREFIX}-") and not Path(f"/proc/{owner}").exists():
            _remove(namespace)


def missing_packages(programs: Mapping[str, str], path: str) -> list[str]:
    """Return Debian's packages of the programs that are not installed."""
    return [package for program, package in programs.items() if not shutil.which(program, path=path)]


def _inside(namespace: str) -> list[str]:
    return ["ip", "netns", "exec", namespace]


def _remove(namespace: str) -> None:
    with suppress(subprocess.CalledProcessError):
        send(processes_in(namespace), signal.SIGKILL)
        ip("netns", "delete", namespace)
