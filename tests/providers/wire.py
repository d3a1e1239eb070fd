"""The fake of a provider on a socket of this machine, whose answers are spoilt where a test wants it."""

import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.providers.bench import Spoilt

# What is answered where nothing was done.
UNDONE = {Spoilt.BUSY: 429, Spoilt.DOWN: 500}


@dataclass(frozen=True)
class Asked:
    """A request as it arrived; the names of its headers without regard to case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answered:
    """What is answered."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


class Fake:
    """Answers requests at `address`, each by `answer`. Whatever that raises is kept in `faults`.

    `overstate` makes another amount of the one that an answer names. `spoilt` counts by method what was spoilt how.
    """

    def __init__(self, answer: Callable[[Asked], Answered], overstate: Callable[[Any], Any]) -> None:
        self._server = _Server(self)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.answer = answer
        self.overstate = overstate
        self.faults: list[Exception] = []
        self.requests: list[Asked] = []
        self.spoilt: Counter[tuple[str, Spoilt]] = Counter()
        self._spoils: deque[Spoilt | None] = deque()
        self._spoiling = threading.Lock()

    def spoil_next(self, how: Spoilt) -> None:
        """Spoil the next request that is not spoilt yet."""
        self._spoils.append(how)

    def spoil_all(self, hows: Sequence[Spoilt | None]) -> None:
        """Spoil the next requests, one by one; None lets one through."""
        self._spoils.extend(hows)

    def next_spoil(self, method: str) -> Spoilt | None:
        """Return how to spoil this request; None where it is answered properly.

        A lookup fails only in the ways that a lookup can.
        """
        with self._spoiling:
            if not self._spoils or (method == "GET" and self._spoils[0] is not Spoilt.DOWN):
                return None
            how = self._spoils.popleft()
            if how:
                self.spoilt[method, how] += 1
            return how

    def calm(self) -> None:
        """Send further requests without a fault."""
        self._spoils.clear()

    def answer_safely(self, asked: Asked) -> Answered:
        """Return the answer; 500 where the fake or the request is faulty, which fails the test."""
        self.requests.append(asked)
        try:
            return self.answer(asked)
        except Exception as fault:  # noqa: BLE001 # it is raised where the test can see it
            self.faults.append(fault)
            return Answered(500, {})

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Answers for as long as the block runs, and raises the first fault at its end."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
        if self.faults:
            raise self.faults[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, fake: Fake) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fake = fake


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        fake, how = self.server.fake, self.server.fake.next_spoil(self.command)
        asked = Asked(self.command, self.path, self.headers, self._read())
        if how is Spoilt.DROPPED:
            self.close_connection = True
        elif how in UNDONE:
            self._write(Answered(UNDONE[how], {}))
        else:
            self._answer(fake.answer_safely(asked), how)

    def do_GET(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def _answer(self, answered: Answered, how: Spoilt | None) -> None:
        match how:
            case None:
                self._write(answered)
            case Spoilt.OTHER_AMOUNT:
                self._write(Answered(answered.status, self.server.fake.overstate(answered.body)))
            case Spoilt.FAILING:
                self._write(Answered(500, {}))
            case Spoilt.GARBLED:
                self._send(answered, b"<html>Bad gateway</html>")
            case Spoilt.CUT:
                self._cut(answered)
            case Spoilt.DELAYED:
                # The client has closed the connection when this returns.
                self.connection.recv(1)
                self.close_connection = True
            case _:
                self.close_connection = True

    def _write(self, answered: Answered) -> None:
        self._send(answered, b"" if answered.body is None else json.dumps(answered.body).encode())

    def _cut(self, answered: Answered) -> None:
        content = json.dumps(answered.body).encode()
        self._send(answered, content, content[: len(content) // 2])
        self.close_connection = True

    def _send(self, answered: Answered, content: bytes, part: bytes | None = None) -> None:
        self.send_response(answered.status)
        for name, value in {**answered.headers, "Content-Type": "application/json"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content if part is None else part)

    def _read(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Says nothing: the test's output is the connector's."""
