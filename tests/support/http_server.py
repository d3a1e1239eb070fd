"""The server of answers: on a socket of this machine, each request answered by a function of the test."""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Where nothing listens, and no program of a user may.
NOBODY = "http://127.0.0.1:1"


@dataclass(frozen=True)
class Asked:
    """A request as it arrived; the names of its headers without regard to case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answered:
    """What is answered: `body` as it is where it is bytes, or their parts one by one, and otherwise as JSON.

    `length` is what the header says of it where that is not so.
    """

    status: int
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None

    @property
    def content(self) -> bytes:
        """Return the body as it goes over the wire."""
        if isinstance(self.body, bytes):
            return self.body
        return b"" if self.body is None else json.dumps(self.body).encode()


class Silence(Enum):
    """No answer."""

    DROPPED = auto()  # the connection is closed
    HUNG = auto()  # the connection stays open until the client gives up


Answer = Callable[[Asked], Answered | Silence]


class Server:
    """Answers requests at `address`, each by `answer`. Whatever that raises is kept in `faults`."""

    def __init__(self, answer: Answer) -> None:
        self._server = _Threads(self)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.answer = answer
        self.faults: list[Exception] = []
        self.requests: list[Asked] = []

    def respond(self, asked: Asked) -> Answered | Silence:
        """Return the answer; 500 where the function or the request is faulty, which fails the test."""
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


@contextmanager
def answering(answer: Answer) -> Iterator[Server]:
    """Run a server that answers so."""
    server = Server(answer)
    with server.serving():
        yield server


class _Threads(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, server: Server) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked_of = server

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up before they ask."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Threads

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answered = self.server.asked_of.respond(Asked(self.command, self.path, self.headers, body))
        if isinstance(answered, Answered):
            # Clients may be gone by now.
            with suppress(ConnectionError):
                self._send(answered)
            return
        if answered is Silence.HUNG:
            self.connection.recv(1)
        self.close_connection = True

    def do_GET(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def _send(self, answered: Answered) -> None:
        parts = answered.body if isinstance(answered.body, Iterator) else iter([answered.content])
        length = len(answered.content) if answered.length is None else answered.length
        self.close_connection = answered.length is not None
        self.send_response(answered.status)
        for name, value in {"Content-Type": "application/json", **answered.headers, "Content-Length": length}.items():
            self.send_header(name, str(value))
        self.end_headers()
        for part in parts:
            self.wfile.write(part)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Says nothing: the test's output is that of the program which asks."""
