"""Clients that begin requests and never end them, while another client wants something."""

import json
from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from tests.client import APPROVED, CARD_FIELDS
from tests.empty_database import emptied_once
from tests.web.clients import (
    ATTACKER,
    CHUNKED,
    PATIENCE_SECONDS,
    answer_on,
    answered,
    ask,
    connect,
    head,
    is_closed,
    length,
    open_sockets,
    status_of,
)
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

WEBHOOK = "POST /providers/01a1fc47-2cce-74eb-976d-50f5281c0d07/webhooks"
IDLE = {
    "a body without a key": head("POST /v2/sources/", CHUNKED) + b"1\r\n{\r\n",
    "half of the headers": b"POST /v2/sources/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX",
    "a webhook": head(WEBHOOK, CHUNKED) + b"1\r\n{\r\n",
    "nothing": b"",
}


@pytest.fixture(scope="module")
def port(shared_serve: Serve, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """Yield a server that waits for bodies for longer than any test, and keeps its data keys."""
    with emptied_once(django_db_blocker):
        yield shared_serve(REQUEST_BODY_SECONDS="600")


def post(port: int, path: str, body: dict[str, object], key: str) -> dict[str, str]:
    text = json.dumps(body).encode()
    response, content = ask(port, head(f"POST {path}", length(text), key=key) + text)
    assert response.status < 300, content
    return dict(json.loads(content))


@pytest.mark.parametrize("sent", IDLE.values(), ids=IDLE.keys())
def test_idle_clients_keep_nobody_else_from_watching_listing_and_charging(
    port: int, shop: NewMerchant, sent: bytes
) -> None:
    key = shop.keys["sk_test"]
    with open_sockets(port, 300, sent):
        assert status_of(port, head("GET /ping")) == 200
        assert status_of(port, head("GET /ready")) == 200
        assert status_of(port, head("GET /v2/charges/", key=key)) == 200
        source = post(port, "/v2/sources/", {"type": "card", "card": {**CARD_FIELDS, "number": APPROVED}}, key)
        order = {"amount": 10_000, "currency": "PHP", "source": source["id"], "description": "Halo-halo"}
        assert post(port, "/v2/charges/", order, key)["status"] == "succeeded"


def test_two_thousand_idle_connections_shut_nobody_out(port: int) -> None:
    with open_sockets(port, 2000, b""):
        assert status_of(port, head("GET /ping")) == 200


def test_an_address_with_too_many_late_bodies_is_answered_429_at_once(port: int) -> None:
    with open_sockets(port, 300, IDLE["a webhook"]) as connections:
        # The process takes at most fifty.
        assert wait_until(lambda: len(answered(connections)) >= 200, PATIENCE_SECONDS)
        refused = [answer_on(connection)[0] for connection in answered(connections)]
        assert {(response.status, response.headers["Retry-After"]) for response in refused} == {(429, "1")}


def test_a_client_that_leaves_gives_its_place_to_another(port: int) -> None:
    with open_sockets(port, 300, IDLE["a webhook"]) as connections:
        # The server does not read them in their order, so any of them may be the first that is refused.
        assert wait_until(lambda: bool(answered(connections)), PATIENCE_SECONDS)
    with connect(port, ATTACKER) as connection:
        connection.sendall(IDLE["a webhook"])
        connection.settimeout(1)
        assert not is_closed(connection)
        connection.settimeout(60)
        connection.sendall(b"1\r\n}\r\n0\r\n\r\n")
        assert answer_on(connection)[0].status == 404
