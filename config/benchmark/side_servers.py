"""Servers beside kaha's, run by the same program, from their start to their end."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from payments.quickstart import ports
from payments.quickstart.servers.places import PROJECT, Places
from payments.quickstart.servers.processes import spawn, stop
from payments.quickstart.supervisor import Supervisor

START_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class SideServer:
    """Where one answers, below paths named as the parts of the service that it stands beside."""

    port: int
    pid: int


def plain_server(
    places: Places, samples: Mapping[str, str], supervisor: Supervisor
) -> AbstractContextManager[SideServer]:
    """The plain view, which answers with `samples`, JSON by the names of parts."""
    file = places.data / "samples.json"
    file.write_text(json.dumps({part: json.loads(text) for part, text in samples.items()}))
    return _server(places, supervisor, "plain", str(file))


def usual_server(places: Places, supervisor: Supervisor) -> AbstractContextManager[SideServer]:
    """The usual way to list charges."""
    return _server(places, supervisor, "usual")


def receiver_server(places: Places, supervisor: Supervisor) -> AbstractContextManager[SideServer]:
    """A merchant's endpoint."""
    return _server(places, supervisor, "receiver")


@contextmanager
def _server(places: Places, supervisor: Supervisor, module: str, *arguments: str) -> Iterator[SideServer]:
    """Raises Failed or Stopped."""
    with ports.claim(0) as claimed:
        port = claimed.getsockname()[1]
        command = [sys.executable, "-m", f"config.benchmark.{module}", str(port), *arguments]
        process = spawn(command, log=places.log(module), environment=os.environ, cwd=PROJECT)
        supervisor.watch(f"the benchmark's {module}", process, places.log(module))
        try:
            supervisor.wait_for(f"the benchmark's {module}", lambda: ports.answers(port), START_TIMEOUT_SECONDS)
            yield SideServer(port, process.pid)
        finally:
            stop(process, timeout_seconds=5)
