"""What such requests have found once."""

from dataclasses import replace
from typing import Any

import pytest

from tests.client import Api, made, without_request_id
from tests.fuzz.client import Answer, ask
from tests.fuzz.inputs.calls import Call
from tests.fuzz.inputs.requests import Case

pytestmark = pytest.mark.django_db(transaction=True)

HALF_A_CARD = "x" * 88 + "4242424242424242"
TYPES = [
    *("application/json; charset*0*=a''%ff", "application/json; charset*=hex''a", "text/plain; charset=zip"),
    *("text/plain; charset=undefined", "text/plain; charset=utf-16", "application/json; charset=\x00"),
]


def request(api: Api, method: str, path: str, body: bytes = b"", **headers: str) -> Case:
    """Return a request with the key of `api`; `headers` are named with underscores."""
    path, _, query = path.partition("?")
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Case(Call(method, path), method, path, query, api.headers() | sent, body)


def answer_to(api: Api, *parts: Any, **headers: str) -> Answer:
    return ask(request(api, *parts, **headers))


@pytest.mark.long
@pytest.mark.parametrize("content_type", TYPES, ids=ascii)
def test_a_media_type_is_no_leave_to_read_the_query_in_another_way(api: Api, content_type: str) -> None:
    for number in range(2):
        made(api.post("/customers/", {"email": "é@shop.example".encode("idna").decode(), "description": f"{number}"}))
    plain = request(api, "GET", "/v2/customers/?limit=1&expand=%C3%A9")
    named = replace(plain, headers={**plain.headers, "Content-Type": content_type})
    assert (ask(named).status, ask(named).json) == (200, ask(plain).json)


@pytest.mark.parametrize("content_type", TYPES, ids=ascii)
def test_a_body_of_an_unreadable_type_is_refused(api: Api, content_type: str) -> None:
    answer = answer_to(api, "POST", "/v2/sources/", b'{"type": "gcash"}', Content_Type=content_type)
    assert (answer.status, answer.json["error"]["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("protocol", ["HTTP/1.1", "HTTP/2"])
@pytest.mark.parametrize("verb", ["void", "refund"])
def test_a_body_that_breaks_off_before_its_first_byte_moves_no_money(api: Api, verb: str, protocol: str) -> None:
    charge = api.charge()
    headers = {"Transfer_Encoding": "chunked"} if protocol == "HTTP/1.1" else {}
    case = request(api, "POST", f"/v2/charges/{charge['id']}/{verb}", **headers)
    answer = ask(case, protocol)
    assert (answer.status, answer.json["error"]["code"]) == (400, "invalid_json")
    assert api.read(charge) == charge


@pytest.mark.parametrize("protocol", ["HTTP/1.1", "HTTP/2"])
def test_a_body_that_is_stated_to_be_empty_is_one(api: Api, protocol: str) -> None:
    case = request(api, "POST", f"/v2/charges/{api.charge()['id']}/void", Content_Length="0")
    assert ask(case, protocol).status == 200


def test_a_member_name_is_not_cut_in_the_middle_of_a_card_number(api: Api) -> None:
    text = without_request_id(api.post("/sources/", {"type": "gcash", HALF_A_CARD: 1}))
    assert "unknown_parameter" in text
    assert "4242" not in text


def test_a_path_longer_than_any_leads_nowhere(api: Api) -> None:
    answer = answer_to(api, "GET", "/v2/customers/by_email/" + "a" * 60_000)
    assert (answer.status, answer.json["error"]["code"]) == (404, "resource_missing")
