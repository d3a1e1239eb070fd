"""A merchant's client: requests to the service, and the process that sends them."""

import base64
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from payments.quickstart.payment import CARD, ORDER
from tests.benchmark.clients.load import HOST
from tests.benchmark.figures import Stretch
from tests.support.processes import Failed, Program, start

# For requests that are sent until there is no more of them.
LONGEST_SECONDS = 3600.0
PAGE = 20


@dataclass(frozen=True)
class Answers(Stretch):
    """What came back: the IDs of what was answered, and the last answer whole."""

    ids: Sequence[str]
    sample: str


@dataclass(frozen=True)
class Load:
    """Sends over `connections` at once; its files are in `folder`, below its `name`."""

    folder: Path
    connections: int
    name: str = "load"

    def send(self, port: int, requests: Sequence[str], seconds: float | None = None, again: bool = False) -> Answers:
        """Send `requests`, in their order, until `seconds` are over or all are sent; `again` and again if wanted.

        Raises Failed where an answer is not one of success.
        """
        return self.start(port, requests, seconds or LONGEST_SECONDS, again)()

    def start(
        self,
        port: int,
        requests: Sequence[str],
        seconds: float,
        again: bool = False,
        spread_seconds: float = 0,
        pause_seconds: float = 0,
    ) -> Callable[[], Answers]:
        """Start to send, and return what waits for the end.

        Connections begin one after the other over `spread_seconds`, and each pauses after an answer.
        """
        job, answers, log = (self.folder / f"{self.name}.{kind}" for kind in ("job.json", "answers.json", "log"))
        pace = {"seconds": seconds, "again": again, "spread_seconds": spread_seconds, "pause_seconds": pause_seconds}
        job.write_text(json.dumps({"port": port, "requests": requests, "connections": self.connections, **pace}))
        command = [sys.executable, "-m", "tests.benchmark.clients.load", str(job), str(answers)]
        program = start(command, log=log)
        return lambda: self._answers(program, answers)

    def _answers(self, program: Program, answers: Path) -> Answers:
        program.succeed(2 * LONGEST_SECONDS)
        found = json.loads(answers.read_text())
        if refused := found.pop("refused"):
            raise Failed(f"a request was answered {refused[:500]}")
        return Answers(**found)


@dataclass(frozen=True)
class Seeded:
    """IDs of charges with half of the merchant's after them, and one page; a key of the merchant that went quiet;
    how many charges there are.
    """

    middle: str = ""
    before_last: str = ""
    quiet_key: str = ""
    charges: int = 0


@dataclass
class Client:
    """Acts for the merchant whose `secret_key` it has; `charges` are the IDs of all charges it made unmeasured.

    `pids` are those of the `server` and of `postgres`, `root` is the path of the API, `receiver` the URL of the
    merchant's endpoint.
    """

    load: Load
    port: int
    secret_key: str
    pids: Mapping[str, int] = field(default_factory=dict)
    root: str = "/v2"
    receiver: str = ""
    seeded: Seeded = Seeded()
    charges: list[str] = field(default_factory=list)

    @property
    def redirect(self) -> dict[str, str]:
        """Return what sends the webhooks of a source's charge to the merchant's endpoint."""
        return dict.fromkeys(("success", "fail", "notify"), self.receiver)

    @property
    def authorization(self) -> str:
        """Return the header by which the merchant is known."""
        return f"Basic {base64.b64encode(f'{self.secret_key}:'.encode()).decode()}"

    def request(self, method: str, path: str, body: dict[str, Any] | None = None, key: str = "") -> str:
        """Return a request as it goes over the wire; an idempotency `key` makes it one that is done once."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", f"Authorization: {self.authorization}"]
        text = json.dumps(body) if body is not None else ""
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(text)}"]
        if key:
            lines.append(f"Idempotency-Key: {key}")
        return "\r\n".join([*lines, "", text])

    def new_sources(self, count: int, **members: Any) -> list[str]:
        """Return requests that each make a source, of a payer of its own."""
        cards = [{**CARD, "name": f"Payer {payer}"} for payer in range(count)]
        return [
            self.request("POST", f"{self.root}/sources/", {"type": "card", "card": card, **members}) for card in cards
        ]

    def new_charges(self, sources: Sequence[str], **members: Any) -> list[str]:
        """Return requests that each charge one of `sources`, under a key of its own."""
        bodies = [{**ORDER, "source": source, **members} for source in sources]
        return [self.request("POST", f"{self.root}/charges/", body, uuid4().hex) for body in bodies]

    def operations(self, charges: Sequence[str], verb: str, body: dict[str, Any]) -> list[str]:
        """Return requests that each do something to one of `charges`, under a key of its own."""
        return [self.request("POST", f"/v2/charges/{charge}/{verb}", body, uuid4().hex) for charge in charges]

    def page(self, more: str = "") -> str:
        """Return a request for one page of charges."""
        return self.request("GET", f"{self.root}/charges/?limit={PAGE}{more}")

    def sources(self, count: int, **members: Any) -> Sequence[str]:
        """Make sources; return their IDs."""
        return self.send(self.new_sources(count, **members)).ids

    def charged(self, count: int, **members: Any) -> Sequence[str]:
        """Make charges; return their IDs."""
        return self.charge(self.new_charges(self.sources(count), **members))

    def charge(self, requests: Sequence[str]) -> Sequence[str]:
        """Send requests that charge; return the IDs of the charges."""
        ids = self.send(requests).ids
        self.charges += ids
        return ids

    def send(self, requests: Sequence[str], seconds: float | None = None, again: bool = False) -> Answers:
        """Send requests to the service: see `Load.send`."""
        return self.load.send(self.port, requests, seconds, again)
