"""Errors of every kind over marked cards: bad requests, and failing providers, views, tasks and databases."""

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from tests.canaries.marks import SHAPES, SOURCE_CVC, marked
from tests.canaries.misplaced import GOOD_CARD, GROUPS, NUMBER, SOURCE, misplaced
from tests.canaries.shop import Shop
from tests.canaries.simulator import FAULTS, LOOKUP_BREAKS
from tests.canaries.urls import WAYS

HEADERS = ("User-Agent", "Referer", "X-Forwarded-For", "X-Request-Id", "Accept", "Origin", "Cookie", "X-Card")


def break_everything(shop: Shop) -> None:
    """Cause every error once in each shape, and assert the refusals."""
    shop.card(marked(11, 98))
    for way in WAYS:
        assert shop.post(f"/canaries/{way}", {"number": NUMBER, "cvc": SOURCE_CVC}).status_code in (200, 500), way
    _break_providers(shop)
    _send_bad_bodies(shop)
    _misplace(shop)
    _visit_wrong_pages(shop)
    _speak_no_http(shop)


def _break_providers(shop: Shop) -> None:
    for code in (*FAULTS, LOOKUP_BREAKS):
        for shape in range(len(SHAPES)):
            shop.charge(shop.card(marked(code, shape)))


def _send_bad_bodies(shop: Shop) -> None:
    body = json.dumps(SOURCE)
    as_json = {"Content-Type": "application/json"}
    for bad in (body[:-1], body + body, body.replace('"cvc"', '"number"'), body + "\x00", f"[{body}]", NUMBER):
        assert shop.ask("POST", "/sources/", content=bad.encode(), headers=as_json).status_code == 400, bad
    assert shop.ask("POST", "/sources/", content=body.encode("utf-16"), headers=as_json).status_code == 400
    assert shop.ask("POST", "/sources/", data={"number": NUMBER, "cvc": SOURCE_CVC}).status_code == 415
    assert shop.ask("POST", "/sources/", files={"card": (NUMBER, body)}).status_code == 415
    assert shop.ask("POST", "/sources/", content=body.ljust(70_000), headers=as_json).status_code == 413
    for card in _bad_cards():
        assert shop.post("/sources/", {"type": "card", "card": card}).status_code == 422, card


def _bad_cards() -> Iterator[Any]:
    yield NUMBER
    yield [GOOD_CARD]
    for changes in (
        *({"number": number} for number in (int(NUMBER), [NUMBER], GROUPS, NUMBER + "0", f"{NUMBER[:-1]}x", None)),
        *({"cvc": cvc} for cvc in (int("1" + SOURCE_CVC), [SOURCE_CVC], f"{SOURCE_CVC} ", None)),
        {"exp_year": "2020"},
        {"exp_month": SOURCE_CVC},
        {NUMBER: SOURCE_CVC},
        {"x" * 90 + NUMBER: 1},
    ):
        yield GOOD_CARD | changes


def _misplace(shop: Shop) -> None:
    for method, path, request in misplaced():
        response = shop.ask(method, path, **request)
        assert response.status_code in (404, 422), (method, path, request, response.text)
    held = shop.charge(shop.card(marked(11, 97)))
    for verb, body in (("refund", {"reason": NUMBER}), ("verify", {"confirmation_id": NUMBER, "otp": SOURCE_CVC})):
        assert shop.post(f"/charges/{held['id']}/{verb}", body).status_code == 422
    _send_wrong_headers(shop)


def _send_wrong_headers(shop: Shop) -> None:
    for header in HEADERS:
        shop.ask("GET", "/ping", headers={header: f"card={NUMBER}"})
    ping = f"{shop.url}/v2/ping"
    for authorization in (NUMBER, f"Bearer {NUMBER}", f"Basic {NUMBER}"):
        assert shop.browse("GET", ping, headers={"Authorization": authorization}).status_code == 401
    assert shop.browse("GET", ping, auth=(NUMBER, SOURCE_CVC)).status_code == 401
    for path in ("v2/ping", "docs", "admin/"):
        shop.browse("GET", f"{shop.url}/{path}", headers={"Host": NUMBER})


def _visit_wrong_pages(shop: Shop) -> None:
    for path in ("canaries/broken", "canaries/suspicious"):
        assert shop.browse("GET", f"{shop.url}/{path}", params={"card": NUMBER, "cvc": SOURCE_CVC}).status_code >= 400
    for path in ("simulator/pay", "return", "docs", "static"):
        shop.browse("GET", f"{shop.url}/{path}/{NUMBER}", params={"card": GROUPS})
        shop.browse("POST", f"{shop.url}/{path}/{NUMBER}", data={"pin": NUMBER})
    page = shop.charge(shop.card(marked(12, 96)))["action"]["url"]
    shop.browse("POST", page, data={"decision": NUMBER, "pin": SOURCE_CVC})
    shop.browse("GET", page, params={"card": NUMBER})


def _speak_no_http(shop: Shop) -> None:
    address = urlsplit(shop.url)
    for line in (f"GET /{NUMBER} HTTP/9.9", NUMBER, f"GET /v2/ping HTTP/1.1\r\n{GROUPS}", f"{NUMBER} / HTTP/1.1"):
        with socket.create_connection((str(address.hostname), address.port or 0), timeout=10) as connection:
            connection.sendall(f"{line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            connection.recv(1000)
