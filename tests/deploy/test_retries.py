"""What HAProxy asks another web server for, when one ends without an answer."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest

from payments.quickstart.ports import HOST
from tests.deploy.conftest import free_port, make_certificate, running

pytestmark = pytest.mark.long


class Dying(BaseHTTPRequestHandler):
    """A web server that is healthy, and ends in the middle of each request."""

    def do_GET(self) -> None:
        if self.path in ("/ready", "/ping"):
            self.answer(b"healthy")
        else:
            self.close_connection = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.close_connection = True

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


class Living(Dying):
    """A web server that answers."""

    def do_GET(self) -> None:
        self.answer(b"healthy")

    def do_POST(self) -> None:
        super().do_POST()
        self.answer(b"done")


@contextmanager
def serving(handler: type[Dying]) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        server.asked = []  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    """Return a client of a HAProxy with one server that dies and one that lives."""
    program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("no haproxy is installed (Debian: haproxy)")
    make_certificate(tmp_path / "tls")
    with ExitStack() as stack:
        https, http = (stack.enter_context(free_port()) for _ in range(2))
        servers = [stack.enter_context(serving(handler)) for handler in (Dying, Living)]
        urls = [f"http://{HOST}:{server.server_address[1]}" for server in servers]
        stack.enter_context(running("haproxy", program, tmp_path, https, http, *urls))
        yield stack.enter_context(httpx.Client(base_url=f"http://{HOST}:{http}", timeout=30))


# Enough for each of the two servers to be asked first.
TIMES = 4


def test_a_payment_with_a_key_is_asked_of_another_server(client: httpx.Client) -> None:
    answers = [client.post("/v2/charges/", content=b"{}", headers={"Idempotency-Key": "once"}) for _ in range(TIMES)]
    assert {answer.status_code for answer in answers} == {200}


def test_a_payment_without_a_key_is_never_sent_twice(client: httpx.Client) -> None:
    answers = [client.post("/v2/charges/", content=b"{}") for _ in range(TIMES)]
    assert {answer.status_code for answer in answers} == {200, 502}
    unknown = next(answer for answer in answers if answer.status_code == 502)
    assert "not known" in unknown.json()["error"]["message"]


def test_what_is_only_read_is_asked_of_another_server(client: httpx.Client) -> None:
    assert {client.get("/v2/charges/").status_code for _ in range(TIMES)} == {200}
