"""Bodies and query strings are read strictly or refused, and never cause an error of ours."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from config.wsgi import application
from payments.api.responses.errors import ApiError
from payments.api.validation.parsers import MAX_BODY_BYTES, loads, query_of
from payments.json_codecs.verbatim_json import Number
from tests.client import Api

SOURCE = {"type": "gcash"}

Wsgi = Callable[..., tuple[int, dict[str, Any]]]


def nested(depth: int) -> bytes:
    """Return an object that nests `depth` deep, itself included."""
    return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)


@pytest.mark.parametrize(
    "body",
    [
        b" ",
        b"null",
        b"[1]",
        b"[{}]",
        b"true",
        b"{",
        b'"text"',
        b"12",
        b"{} {}",
        b'{"a":1,}',
        b'{"a" 1}',
        b"{'a':1}",
        b'{"a":01}',
        b'{"a":"\t"}',
        b'{"a":1,"a":2}',
        b'{"a":{"b":1,"b":1}}',
        b'{"a":1,"\\u0061":2}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":1e999}',
        b'{"a":' + b"9" * 31 + b"}",
        b'{"a":' + b"9" * 60_000 + b"}",
        b'{"a":0.' + b"1" * 60_000 + b"}",
        b'{"a":"\\u0000"}',
        b'{"\\u0000":1}',
        b'{"a":"\\ud800"}',
        b'{"a":["\\udc00"]}',
        b'{"\\udfff":1}',
        b'{"a":"\x00"}',
        b'{"a":"\xff"}',
        '{"a":"é"}'.encode("latin-1"),
        b'{"a":"\xed\xa0\x80"}',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-32-le"),
        nested(11),
        b'{"a":' + b"[" * 10 + b"]" * 10 + b"}",
        b"[" * MAX_BODY_BYTES,
        b'{"a":' * 10_000,
    ],
)
def test_what_is_not_one_storable_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        loads(body)
    assert (refused.value.status, refused.value.code) == (400, "invalid_json")


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"{}", {}),
        (b' \r\n{"a" : null }\t', {"a": None}),
        (b'{"a":1.50,"b":-0,"c":1e3}', {"a": Number("1.50"), "b": Number("-0"), "c": Number("1e3")}),
        (b'{"a":' + b"9" * 30 + b"}", {"a": int("9" * 30)}),
        ('{"é":"\U0001f600"}'.encode(), {"é": "\U0001f600"}),
        (b'{"a":"\\ud83d\\ude00\\\\u0000"}', {"a": "\U0001f600\\u0000"}),
        (b'{"a":{"a":1},"b":{"a":1}}', {"a": {"a": 1}, "b": {"a": 1}}),
        (nested(10), json.loads(nested(10))),
    ],
)
def test_a_json_object_is_read_as_it_is(body: bytes, value: dict[str, Any]) -> None:
    assert loads(body) == value


def outcome(body: bytes) -> dict[str, Any] | str:
    """Return the object in `body`, or the code of the refusal."""
    try:
        return loads(body)
    except ApiError as refused:
        return refused.code


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,\\u0dfe19.-+tnN \x00é', max_size=60).map(str.encode))
def test_any_bytes_are_an_object_or_a_refusal(body: bytes) -> None:
    result = outcome(body)
    assert isinstance(result, dict) or result == "invalid_json"


@pytest.mark.long
@given(st.dictionaries(st.text(), st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=5)))
def test_an_object_is_taken_whole_or_refused(value: dict[str, Any]) -> None:
    assert outcome(json.dumps(value).encode()) in (value, "invalid_json")


@pytest.mark.parametrize("body", [b'{"number":"4242424242424242"', b'{"4242424242424242":1,"4242424242424242":2}'])
def test_a_refusal_repeats_nothing_of_the_body(body: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        loads(body)
    assert "4242" not in str(refused.value)


@pytest.mark.parametrize(
    "body", [b"[" * MAX_BODY_BYTES, b'{"a":"' + b"\\" * 65_000, b'{"a":[' + b"1," * 32_000 + b"1]}"]
)
def test_the_longest_bodies_of_one_sign_are_read_or_refused(body: bytes) -> None:
    assert outcome(body)


def test_a_wrong_method_is_refused_before_the_body_is_read(api: Api) -> None:
    assert api.post("/me", b"{").status_code == 405


@pytest.fixture
def wsgi(api: Api) -> Iterator[Wsgi]:
    """POST to sources through the application as the web server calls it; returns status and JSON."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield partial(_post, api.headers()["Authorization"])
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def _post(authorization: str, body: bytes, **environ: Any) -> tuple[int, dict[str, Any]]:
    environ |= {"PATH_INFO": "/v2/sources/", "REQUEST_METHOD": "POST", "wsgi.input": io.BytesIO(body)}
    environ |= {"CONTENT_TYPE": "application/json", "HTTP_AUTHORIZATION": authorization}
    setup_testing_defaults(environ)
    statuses: list[str] = []
    with closing(application(environ, lambda status, *_: statuses.append(status))) as answer:
        return int(statuses[0].split()[0]), json.loads(b"".join(answer))


def test_an_empty_body_in_chunks_without_a_length_may_have_broken_off(wsgi: Wsgi) -> None:
    status, body = wsgi(b"", HTTP_TRANSFER_ENCODING="chunked")
    assert (status, body["error"]["code"]) == (400, "invalid_json")


def test_no_body_and_no_length_is_an_empty_object(wsgi: Wsgi) -> None:
    status, body = wsgi(b"")
    assert (status, body["error"]["code"]) == (422, "missing")


@pytest.mark.parametrize(
    "environ",
    [{"HTTP_TRANSFER_ENCODING": "chunked"}, *({"CONTENT_LENGTH": length} for length in ("x", "+9", "9" * 4301))],
)
def test_a_body_of_unreadable_length_is_not_taken_for_an_empty_one(wsgi: Wsgi, environ: dict[str, Any]) -> None:
    status, body = wsgi(json.dumps(SOURCE).encode(), **environ)
    assert (status, body["error"]["code"]) == (400, "invalid_json")


def test_a_body_that_breaks_off_is_refused(wsgi: Wsgi) -> None:
    assert wsgi(b"{}", CONTENT_LENGTH="9")[0] == 400


def query(raw: str) -> dict[str, str]:
    return query_of(RequestFactory().get("/v2/charges/", QUERY_STRING=raw))


@pytest.mark.parametrize(
    ("raw", "parameters"),
    [
        ("", {}),
        ("limit=2&status=", {"limit": "2", "status": ""}),
        ("created_at%5Bgte%5D=2026-01-01T00%3A00%3A00%2B08%3A00", {"created_at[gte]": "2026-01-01T00:00:00+08:00"}),
        ("expand=source&expand[]=a&expand[]=b&limit=1", {"limit": "1"}),
        ("email=%C3%A9", {"email": "é"}),
    ],
)
def test_query_parameters_are_decoded(raw: str, parameters: dict[str, str]) -> None:
    assert query(raw) == parameters


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("limit=%FF", "invalid_query"),
        ("limit=\xff", "invalid_query"),
        ("limit=%00", "invalid_query"),
        ("%00=1", "invalid_query"),
        ("&".join(f"a{number}=1" for number in range(101)), "invalid_query"),
        ("limit=1&limit=1", "repeated_parameter"),
    ],
)
def test_an_unreadable_query_is_refused(raw: str, code: str) -> None:
    with pytest.raises(ApiError) as refused:
        query(raw)
    assert (refused.value.status, refused.value.code) == (422, code)


@pytest.mark.parametrize("path", ["/charges/%00", "/charges/%FF", "/customers/by_email/%00@example.com"])
def test_a_path_that_cannot_be_stored_leads_nowhere(api: Api, path: str) -> None:
    assert api.get(path).status_code == 404
