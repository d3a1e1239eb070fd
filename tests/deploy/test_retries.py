"""What HAProxy asks another web server for, when one ends without an answer."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from payments.quickstart.ports import HOST
from tests.deploy.conftest import make_certificate, proxy_program, running_proxy
from tests.support.http_server import Answered, Asked, Silence, answering
from tests.support.processes import free_port

pytestmark = pytest.mark.long


# Each of their connections takes one request.
CLOSES = {"Connection": "close"}


def dying(asked: Asked) -> Answered | Silence:
    """Answer as a web server that is healthy, and ends in the middle of each request."""
    return Answered(200, b"healthy", CLOSES) if asked.path in ("/ready", "/ping") else Silence.DROPPED


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx2.Client]:
    """Return a client of a HAProxy with one server that dies and one that lives."""
    program = proxy_program("haproxy")
    make_certificate(tmp_path / "tls")
    with ExitStack() as stack:
        https, http = free_port(), free_port()
        living = lambda _: Answered(200, b"done", CLOSES)  # noqa: E731
        urls = [stack.enter_context(answering(answer)).address for answer in (dying, living)]
        stack.enter_context(running_proxy("haproxy", program, tmp_path, https, http, *urls))
        # Where a client's connection has had an answer before, HAProxy may end it instead of answering.
        alone = httpx2.Limits(max_keepalive_connections=0)
        yield stack.enter_context(httpx2.Client(base_url=f"http://{HOST}:{http}", timeout=30, limits=alone))


# Enough for each of the two servers to be asked first.
TIMES = 4


def test_a_payment_with_a_key_is_asked_of_another_server(client: httpx2.Client) -> None:
    answers = [client.post("/v2/charges/", content=b"{}", headers={"Idempotency-Key": "once"}) for _ in range(TIMES)]
    assert {answer.status_code for answer in answers} == {200}


def test_a_payment_without_a_key_is_never_sent_twice(client: httpx2.Client) -> None:
    answers = [client.post("/v2/charges/", content=b"{}") for _ in range(TIMES)]
    assert {answer.status_code for answer in answers} == {200, 502}
    unknown = next(answer for answer in answers if answer.status_code == 502)
    assert "not known" in unknown.json()["error"]["message"]


def test_what_is_only_read_is_asked_of_another_server(client: httpx2.Client) -> None:
    assert {client.get("/v2/charges/").status_code for _ in range(TIMES)} == {200}
