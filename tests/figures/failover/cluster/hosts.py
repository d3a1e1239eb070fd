"""A host: its services, which are started again when they end, and what may happen to it."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from payments.embedded.folders import PROJECT
from tests.figures.failover.cluster.namespaces import Network, call_in, command_in, processes_in, send
from tests.support.processes import Program, start

# As RestartSec of the units in config/deploy/systemd.
RESTART_SECONDS = 2.0
# Not the wheels of the embedded servers.
DEBIAN = "/usr/bin:/usr/sbin"

Result = TypeVar("Result")


@dataclass
class Service:
    """A program of a host's, and its process."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    user: str
    # Of somebody else's on the same host: what happens to the host does not happen to it.
    spared: bool
    program: Program | None = None
    ended_at: float = field(default=0.0)


class Host:
    """A network namespace with services, whose logs and files are in `folder`."""

    def __init__(self, network: Network, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder / name
        self.folder.mkdir(mode=0o777)
        self.folder.chmod(0o777)
        self._network = network
        self.namespace, self.address = network.add_host(name)
        self._services: list[Service] = []
        self.is_down = False

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        user: str = "",
        spared: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        service = Service(name, command, os.environ | dict(environment or {}), user, spared)
        self._services.append(service)
        self._run(service)

    def run(self, command: Sequence[str], **environment: str) -> str:
        """Run a command that ends by itself; return its output. Raises RuntimeError."""
        inside = command_in(self.namespace, command)
        done = subprocess.run(
            inside, capture_output=True, text=True, check=False, env=os.environ | environment, cwd=PROJECT, timeout=300
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} on {self.name}: {done.stdout[-1000:]}{done.stderr[-3000:]}")
        return done.stdout

    def call(self, function: Callable[[], Result]) -> Result:
        return call_in(self.namespace, function)

    def supervise(self) -> None:
        """Start again what has ended, as a service manager does."""
        for service in self._services:
            if self.is_down or service.program is None or service.program.is_running:
                continue
            if not service.ended_at:
                service.ended_at = time.monotonic()
            elif time.monotonic() - service.ended_at > RESTART_SECONDS:
                self._run(service)

    def kill(self, service: str = "") -> None:
        """Kill a service, or all there are."""
        send(self._pids(service), signal.SIGKILL)

    def stall(self, service: str = "") -> None:
        """Have a service do nothing, or all there are, until `resume`."""
        self.is_down = True
        send(self._pids(service), signal.SIGSTOP)

    def resume(self) -> None:
        send(self._pids(), signal.SIGCONT)
        self.is_down = False

    def end(self, service: str) -> None:
        """Have a service end in good order, and not start again."""
        found = self._named(service)
        self._services.remove(found)
        if found.program:
            found.program.send(signal.SIGTERM)

    def unplug(self) -> None:
        self._network.cut(self.address)

    def separate(self, others: "Sequence[Host]") -> None:
        """Have packets to and from the `others` vanish, and no others."""
        self._network.cut(self.address, [other.address for other in others])

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _named(self, name: str) -> Service:
        return next(service for service in self._services if service.name == name)

    def _pids(self, name: str = "") -> set[int]:
        if name:
            program = self._named(name).program
            return {program.pid} if program else set()
        spared = {service.program.pid for service in self._services if service.spared and service.program}
        return processes_in(self.namespace) - spared

    def _run(self, service: Service) -> None:
        service.ended_at = 0.0
        program = shutil.which(service.command[0], path=DEBIAN) or service.command[0]
        command = command_in(self.namespace, [program, *service.command[1:]], service.user)
        polite = ["nice", "-n", "10", *command]
        service.program = start(polite, log=self.log(service.name), environment=service.environment)
