"""Requests, and the process that sends them."""

import base64
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.benchmark.figures import Stretch
from config.embedded.places import PROJECT
from config.embedded.processes import spawn
from config.quickstart.ports import HOST
from config.quickstart.supervisor import Failed, Supervisor

# For whatever is sent until there is no more of it.
LONGEST_SECONDS = 3600.0


@dataclass(frozen=True)
class Request:
    """A call of the API; a `key` makes it one that is done once."""

    method: str
    path: str
    body: dict[str, Any] | None = None
    key: str = ""

    def text(self, secret_key: str) -> str:
        """All of it, as it goes over the wire."""
        credentials = base64.b64encode(f"{secret_key}:".encode()).decode()
        body = json.dumps(self.body) if self.body is not None else ""
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {HOST}", f"Authorization: Basic {credentials}"]
        if self.body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        if self.key:
            lines.append(f"Idempotency-Key: {self.key}")
        return "\r\n".join([*lines, "", body])


@dataclass(frozen=True)
class Answers(Stretch):
    """What came back: the IDs of what was answered, and the last answer whole."""

    ids: Sequence[str]
    sample: str


class Load:
    """Sends over `connections` at once; what it writes lies in `folder`."""

    def __init__(self, folder: Path, connections: int, supervisor: Supervisor) -> None:
        self._folder = folder
        self.connections = connections
        self._supervisor = supervisor

    def send(self, port: int, requests: Sequence[str], seconds: float | None = None, again: bool = False) -> Answers:
        """Send `requests`, in their order, until `seconds` are over or all are sent; `again` and again if wanted.

        Raises Failed where an answer is not one of success, and Stopped.
        """
        job, answers, log = (self._folder / name for name in ("job.json", "answers.json", "load.log"))
        limit = {"connections": self.connections, "seconds": seconds or LONGEST_SECONDS, "again": again}
        job.write_text(json.dumps({"port": port, "requests": requests, **limit}))
        command = [sys.executable, "-m", "config.benchmark.load", str(job), str(answers)]
        process = spawn(command, log=log, environment=os.environ, cwd=PROJECT)
        self._supervisor.wait_for_end("the load", process, log, 2 * LONGEST_SECONDS)
        found = json.loads(answers.read_text())
        if refused := found.pop("refused"):
            raise Failed(f"a request was answered {refused[:500]}")
        return Answers(**found)
