"""Requests, and the process that sends them."""

import base64
import json
import os
import subprocess  # nosec B404 # programs of ours, never a shell
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from config.benchmark.figures import Stretch
from payments.quickstart.ports import HOST
from payments.quickstart.servers.places import PROJECT
from payments.quickstart.servers.processes import spawn
from payments.quickstart.supervisor import Failed, Supervisor

# For whatever is sent until there is no more of it.
LONGEST_SECONDS = 3600.0


@dataclass(frozen=True)
class Request:
    """A call of the API; a `key` makes it one that is done once, a `secret_key` one of another merchant."""

    method: str
    path: str
    body: dict[str, Any] | None = None
    key: str = ""
    secret_key: str = ""

    def text(self, secret_key: str) -> str:
        """All of it, as it goes over the wire."""
        credentials = base64.b64encode(f"{self.secret_key or secret_key}:".encode()).decode()
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


@dataclass(frozen=True)
class Pace:
    """Over what time connections begin one after the other, and for how long each rests after an answer."""

    spread_seconds: float = 0
    pause_seconds: float = 0


AT_ONCE = Pace()
# Waits for the end of what was started, and returns what came back.
Waiting = Callable[[], Answers]


class Load:
    """Sends over `connections` at once; what it writes lies in `folder`, below its `name`."""

    def __init__(self, folder: Path, connections: int, supervisor: Supervisor, name: str = "load") -> None:
        self._files = [folder / f"{name}.{kind}" for kind in ("job.json", "answers.json", "log")]
        self.connections = connections
        self._supervisor = supervisor

    def send(self, port: int, requests: Sequence[str], seconds: float | None = None, again: bool = False) -> Answers:
        """Send `requests`, in their order, until `seconds` are over or all are sent; `again` and again if wanted.

        Raises Failed where an answer is not one of success, and Stopped.
        """
        return self.start(port, requests, seconds, again)()

    def start(
        self,
        port: int,
        requests: Sequence[str],
        seconds: float | None = None,
        again: bool = False,
        pace: Pace = AT_ONCE,
    ) -> Waiting:
        """The same without waiting for the end, which what is returned does."""
        job, answers, log = self._files
        limit = {"connections": self.connections, "seconds": seconds or LONGEST_SECONDS, "again": again}
        job.write_text(json.dumps({"port": port, "requests": requests, **limit, **asdict(pace)}))
        command = [sys.executable, "-m", "config.benchmark.load", str(job), str(answers)]
        process = spawn(command, log=log, environment=os.environ, cwd=PROJECT)
        return lambda: self._answers(process)

    def _answers(self, process: "subprocess.Popen[bytes]") -> Answers:
        _, answers, log = self._files
        self._supervisor.wait_for_end("the load", process, log, 2 * LONGEST_SECONDS)
        found = json.loads(answers.read_text())
        if refused := found.pop("refused"):
            raise Failed(f"a request was answered {refused[:500]}")
        return Answers(**found)
