"""The server of the plain view, from its start to its end."""

import json
import os
import subprocess  # nosec B404 # programs of ours, never a shell
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from config.embedded.places import PROJECT, Places
from config.embedded.processes import spawn, stop
from config.quickstart import ports
from config.quickstart.supervisor import Supervisor

START_TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class PlainServer:
    port: int
    pid: int


@contextmanager
def plain_server(places: Places, samples: Mapping[str, str], supervisor: Supervisor) -> Iterator[PlainServer]:
    """It answers with `samples`, which are JSON by the names of parts. Raises Failed or Stopped."""
    file, log = places.data / "samples.json", places.log("plain")
    file.write_text(json.dumps({part: json.loads(text) for part, text in samples.items()}))
    with ports.claim(0) as claimed:
        port = claimed.getsockname()[1]
        command = [sys.executable, "-m", "config.benchmark.plain", str(port), str(file)]
        process = spawn(command, log=log, environment=os.environ, cwd=PROJECT, stdin=subprocess.DEVNULL)
        supervisor.watch("the plain view", process, log)
        try:
            supervisor.wait_for("the plain view", lambda: ports.answers(port), START_TIMEOUT_SECONDS)
            yield PlainServer(port, process.pid)
        finally:
            stop(process, timeout_seconds=5)
