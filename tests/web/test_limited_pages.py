"""Payers' pages beyond the limit of an address: refused by the event loop, until the window ends."""

import json
import re
from http.client import HTTPResponse
from uuid import uuid4

import pytest

from payments.embedded.processes import wait_until
from tests.client import Api
from tests.web.busy import THREADS, Busy
from tests.web.clients import PATIENCE_SECONDS, answer_on, ask, head, length, open_sockets, status_of
from tests.web.conftest import Serve, ServeBusy

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

PAGE, PAYER = "/checkout/cs_0", b"Accept: text/html\r\n"
JSON_TYPE = b"Content-Type: application/json\r\n"
# Counted by the year: no window ends during a test.
ONE = {"RATE_LIMIT_ANONYMOUS": "1/year", "TRUSTED_PROXIES": "1", "DATABASE_CONNECTIONS": "1"}
OWN = {"request-id", "retry-after", "refresh", "date"}


@pytest.fixture(scope="module")
def server(serve_busy: ServeBusy) -> Busy:
    """Return a server that shows each address one page, one after the other."""
    return serve_busy(**ONE)


@pytest.fixture
def port(server: Busy) -> int:
    return server.port


@pytest.fixture
def sender() -> bytes:
    """Return the header of a proxy for an address that was never counted."""
    return came_from(uuid4().hex)


def came_from(address: str) -> bytes:
    return f"X-Forwarded-For: {address}\r\n".encode()


def opening(path: str, *headers: bytes) -> bytes:
    """Return the request of a browser for a page."""
    return head(f"GET {path}", PAYER, *headers)


@pytest.fixture
def refused(port: int, sender: bytes) -> bytes:
    """Return the header of an address to which the server has refused a page."""
    assert [status_of(port, opening(PAGE, sender)) for _ in range(2)] == [404, 429]
    return sender


def fixed_headers(response: HTTPResponse) -> dict[str, set[str]]:
    """Return the headers that are the same in each answer, whose parts come in any order."""
    return {name: set(re.split("[;,] ", value)) for name, value in response.headers.items() if name not in OWN}


def test_a_refusal_is_repeated_while_every_thread_is_taken(server: Busy, sender: bytes) -> None:
    port = server.port
    _, (made, page) = (ask(port, opening(PAGE, sender)) for _ in range(2))
    with server.threads():
        repeated, same_page = ask(port, opening(PAGE, sender))
    assert (made.status, repeated.status) == (429, 429)
    assert same_page == page
    # Unlike Django, it reads no cookie.
    assert fixed_headers(repeated) == fixed_headers(made) | {"vary": {"Accept-Language"}}
    assert repeated.headers["Request-Id"] != made.headers["Request-Id"]
    assert int(repeated.headers["Refresh"]) == int(repeated.headers["Retry-After"]) + 1


def test_of_a_burst_the_first_refusal_alone_takes_a_thread(server: Busy, sender: bytes) -> None:
    server.wait_until_idle()
    # As many as one address has places for, of those that payers have together.
    with open_sockets(server.port, THREADS // 2, opening(PAGE, sender)) as connections:
        answers = [answer_on(connection)[0] for connection in connections]
    assert sorted(answer.status for answer in answers) == [404, *[429] * (THREADS // 2 - 1)]
    ids = {answer.headers["Request-Id"] for answer in answers}
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line[:1] == "{"]
    logged = [line for line in lines if line["message"] == "request" and line["request_id"] in ids]
    assert [line["status"] for line in logged] == [404, 429]


def test_other_paths_and_addresses_are_answered_as_before(port: int, refused: bytes, api: Api) -> None:
    other = came_from(uuid4().hex)

    def statuses(who: bytes) -> dict[str, int]:
        asked = {
            "ping": head("GET /ping", who),
            "ready": head("GET /ready", who),
            "script": opening("/sdk/kaha.js", who),
            "sign-in": opening("/admin/login/", who),
            "charges": head("GET /v2/charges/", who, key=api.key),
            "sessions by their other path": head("GET /checkout/", who, key=api.key),
            "source by a publishable key": head("GET /v2/sources/none", who, key=api.key),
            "callback": head("POST /providers/none/webhooks", who, length(b"{}")) + b"{}",
        }
        return {name: status_of(port, sent) for name, sent in asked.items()}

    assert statuses(refused) == statuses(other)
    assert 429 not in statuses(refused).values()
    assert [status_of(port, opening(PAGE, who)) for who in (other, refused)] == [404, 429]


def test_the_repeated_page_suits_its_request(port: int, refused: bytes) -> None:
    form = b"way=card"
    form_type = b"Content-Type: application/x-www-form-urlencoded\r\n"
    asked = {
        "chosen": opening(f"{PAGE}?lang=fil", refused),
        "browser's": opening(PAGE, refused, b"Accept-Language: fil-PH, en;q=0.5\r\n"),
        "too many fields": opening(f"{PAGE}?{'a&' * 2_000}", refused),
        "form": head(f"POST {PAGE}", refused, length(form)).replace(JSON_TYPE, form_type) + form,
        "head": head(f"HEAD {PAGE}", PAYER, refused),
    }
    answers = {name: ask(port, sent) for name, sent in asked.items()}
    assert {response.status for response, _ in answers.values()} == {429}
    assert {name for name, (_, page) in answers.items() if b'<html lang="fil">' in page} == {"chosen", "browser's"}
    assert {name for name, (response, _) in answers.items() if "Refresh" not in response.headers} == {"form"}


def test_a_network_of_ipv6_is_refused_as_one_address(port: int) -> None:
    network = f"2001:db8:{uuid4().hex[:4]}"
    addresses = [f"{network}::1", f"{network}::2", f"{network}::3", f"{network}:1::1"]
    assert [status_of(port, opening(PAGE, came_from(address))) for address in addresses] == [404, 429, 429, 404]


def test_the_page_opens_again_in_the_next_window(serve: Serve) -> None:
    port = serve(RATE_LIMIT_ANONYMOUS="1/second")
    for status in (429, 404, 429, 404):
        assert wait_until(lambda status=status: status_of(port, opening(PAGE)) == status, PATIENCE_SECONDS)
