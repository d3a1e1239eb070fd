"""The ends of every type, for every parameter and member of every request that the document names.

They are made from the document, so that a new parameter or member is among them without a change here.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.http import HttpResponse
from pytest_django import DjangoDbBlocker, Settings

from tests.client import Api
from tests.contract.calls import vaulted
from tests.contract.shapes import ERROR, faults_in
from tests.fuzz.inputs.calls import CALLS, Stock, shop
from tests.fuzz.inputs.values import Raw, written
from tests.openapi.conftest import Document
from tests.undone import undone

pytestmark = [pytest.mark.django_db, pytest.mark.long]

DOCUMENT = Document()
SCHEMAS = DOCUMENT.content["components"]["schemas"]
READING = [pair for pair, one in DOCUMENT.operations().items() if pair[0] == "GET" and one.get("parameters")]
WRITING = [pair for pair, one in DOCUMENT.operations().items() if "requestBody" in one]
ID = re.compile(r"\^(?:\(\?:)?([a-z]+)[_|]")
YEAR = "[0-9]{4}"
DAYS = [
    *("0000-01-01", "0001-01-01", "1969-12-31T23:59:59.999999Z", "1970-01-01", "1970-01-01T00:00:00.000001Z"),
    *("2024-02-29", "2023-02-29", "9999-12-31", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999999999Z"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1970-01-01T00:00:00+23:59", "10000-01-01"),
]
INTEGERS = [0, -1, 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**29, 10**30]
TEXTS = [
    *("", " ", "a\0b", "\udfff\ud800", "\uffff\U0010ffff", "\u202e\x7f\x80", "é" * 30_000),
    *("\n", "'", '"\\%%00', "null", "NaN", "1e999", "٣", "9" * 5000),
]
OTHER_TYPES: list[Any] = [
    None,
    True,
    0.5,
    -0.0,
    1e308,
    [],
    {},
    [None],
    {"": None},
    [[[[[[[[[[[]]]]]]]]]]],
    Raw(b"9" * 5000),
    10**30,
    "\0",
]


def ends_of(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the values at and beyond both ends of a type."""
    for bound in (schema.get("minimum"), schema.get("maximum")):
        yield from (bound - 1, bound, bound + 1) if bound is not None else ()
    for bound in (schema.get("minLength"), schema.get("maxLength")):
        yield from (
            ("1" * length for length in (bound - 1, bound, bound + 1) if length >= 0) if bound is not None else ()
        )
    prefix = ID.match(schema.get("pattern", ""))
    if prefix:
        yield from (f"{prefix[1]}_{digits}" for digits in ("", "0" * 31, "0" * 32, "f" * 32, "F" * 32, "0" * 33))
    yield from schema.get("enum", ())
    types = schema.get("type", ["integer", "string"])
    if "integer" in types:
        yield from INTEGERS
    if "string" in types and "enum" not in schema:
        yield from TEXTS
        yield from DAYS if YEAR in schema.get("pattern", "") else ()


def asked(api: Api, method: str, path: str, content: bytes = b"") -> HttpResponse:
    return api.client.generic(method, path, content, "application/json", headers=api.headers())


def check(method: str, template: str, response: HttpResponse, value: Any) -> None:
    """Fail unless the answer is no error of ours and is as the document says."""
    assert response.status_code < 500, repr(value)[:80]
    if response.status_code >= 400:
        assert faults_in(json.loads(response.content), ERROR) == []
    DOCUMENT.check(method, template, response)


def real(text: str, stock: Stock) -> str:
    """Return a path or body of `CALLS` with something that there is for each name."""
    return re.sub(r"{(\w+)}", lambda name: stock[name[1]][0], text)


def call_to(method: str, template: str) -> tuple[str, Any]:
    """Return path and body of the right request among `CALLS` with the most members."""
    shape = re.sub(r"{\w+}", "{}", template)
    own = [one for one in CALLS if (one.method, re.sub(r"{\w+}", "{}", one.path)) == (method, shape)]
    best = max(own, key=lambda one: len(one.body or ()))
    return best.path, best.body or {}


def members(schema: dict[str, Any], at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the path and form of every member of a body, nested ones too."""
    for option in [schema, *schema.get("anyOf", ())]:
        if "$ref" in option:
            yield from members(SCHEMAS[option["$ref"].rpartition("/")[2]], at)
    for name, form in schema.get("properties", {}).items():
        yield (*at, name), form
        yield from members(form, (*at, name))


def with_value(body: dict[str, Any], at: tuple[str, ...], value: Any) -> dict[str, Any]:
    inner = with_value(body.get(at[0]) or {}, at[1:], value) if at[1:] else value
    return {**body, at[0]: inner}


def encoded(query: dict[str, Any]) -> str:
    return urlencode(query, errors="surrogatepass")


def send_all(
    ends: dict[str, list[Any]], method: str, template: str, send: Callable[[dict[str, Any]], HttpResponse]
) -> None:
    """Send each value as all members or parameters that have it among their ends, and alone as each that takes it.

    A refusal names all that refuse their values, each of which has seen it by then. A body that cannot be read is
    refused whatever the member is called.
    """
    places: dict[str, dict[str, Any]] = {}
    for name, values in ends.items():
        for value in values:
            places.setdefault(repr(value), {})[name] = value
    for together in places.values():
        answer = send(together)
        check(method, template, answer, together)
        error = json.loads(answer.content).get("error", {})
        refusing = error.get("errors", together if error.get("code") == "invalid_json" else ())
        for name in [name for name in together if name not in refusing and len(together) > 1]:
            check(method, template, send({name: together[name]}), (name, together[name]))


@pytest.fixture(scope="module")
def everything(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[Api, Stock]]:
    """Make something of everything once: what a test does with it is undone."""
    with django_db_blocker.unblock(), undone():
        api, stock = shop()
        # A source that can be charged again and again.
        yield api, {**stock, "source": [vaulted(api)]}


@pytest.fixture
def stock(everything: tuple[Api, Stock], db: None, settings: Settings) -> tuple[Api, Stock]:
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = "1000000/second"
    return everything


@pytest.mark.parametrize(("method", "template"), READING)
def test_no_parameter_is_an_error_of_ours_at_its_ends(method: str, template: str, stock: tuple[Api, Stock]) -> None:
    api, there = stock
    path = real(call_to(method, template)[0], there)
    parameters = DOCUMENT.operations()[(method, template)]["parameters"]
    ends = {
        (one["in"], one["name"]): [*map(str, [*ends_of(one["schema"]), "\0", 10**30, "true"])] for one in parameters
    }
    query = {name: values for (place, name), values in ends.items() if place == "query"}
    send_all(query, method, template, lambda query: asked(api, method, f"{path}?{encoded(query)}"))
    for (place, name), values in ends.items():
        for value in values if place == "path" else ():
            if value and "\n" not in value:
                segment = quote(value, "", errors="surrogatepass")
                check(method, template, asked(api, method, template.replace(f"{{{name}}}", segment)), value)


@pytest.mark.parametrize(("method", "template"), WRITING)
def test_no_member_is_an_error_of_ours_at_its_ends(method: str, template: str, stock: tuple[Api, Stock]) -> None:
    api, there = stock
    path, body = call_to(method, template)
    path, body = real(path, there), json.loads(real(json.dumps(body), there))
    schema = DOCUMENT.operations()[(method, template)]["requestBody"]["content"]["application/json"]["schema"]
    ends = {".".join(at): [*ends_of(form), *OTHER_TYPES] for at, form in members(schema)}
    # What has members itself is sent without them.
    around = [name for name in ends if any(other.startswith(f"{name}.") for other in ends)]

    def send(values: dict[str, Any]) -> HttpResponse:
        sent = body
        for name, value in values.items():
            sent = with_value(sent, tuple(name.split(".")), value)
        return asked(api, method, path, written(sent))

    send_all({name: values for name, values in ends.items() if name not in around}, method, template, send)
    for name in around:
        send_all({name: ends[name]}, method, template, send)
