"""Requests: a right one of some call, of which one part or two are spoilt."""

import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlencode

from hypothesis import strategies as st

from tests.fuzz.inputs.calls import CALLS, Call, Stock
from tests.fuzz.inputs.headers import headers, methods
from tests.fuzz.inputs.values import Pairs, anything, names, texts, written

NAMED = re.compile(r"{(\w+)}")
JSON = "application/json"
SHOWN_CHARACTERS = 700
# Most requests are wrong in one part only, for else the first refusal hides the next one.
PARTS = ["body"] * 6 + ["query"] * 3 + ["path"] * 2 + ["headers"] * 4 + ["method", "body headers", "path query", ""]
SEGMENTS = [
    "..",
    ".",
    "",
    "%2e%2e",
    "%2F",
    "%00",
    "%FF",
    "%C0%AF",
    "%ED%A0%80",
    "%0A",
    "%25",
    "%",
    "%zz",
    ";a=b",
    "a" * 9000,
]


@dataclass(frozen=True)
class Case:
    """One request. `path` and `query` are as they go over the wire."""

    call: Call
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_api(self) -> bool:
        """Whether a program is answered, and no browser."""
        return f"{unquote(self.path)}/".startswith("/v2/")

    @property
    def shown(self) -> str:
        """A short form of the request for reports."""
        parts = (self.method, self.path, self.query, self.headers, self.body)
        return " ".join(f"{part}"[:SHOWN_CHARACTERS] for part in parts)


@st.composite
def cases(draw: st.DrawFn, stock: Stock, authorization: str) -> Case:
    """Return a request of the merchant who has this stock and signs with this header."""
    call = draw(st.sampled_from(CALLS))
    spoilt = draw(st.sampled_from(PARTS)).split()
    path, query, body = _filled(draw, [call.path, dict(call.query), call.body], stock)
    content, media_type = draw(_content(call, body, "body" in spoilt))
    sent = {"Authorization": authorization, "Content-Type": media_type}
    return Case(
        call,
        draw(methods) if "method" in spoilt else call.method,
        draw(_path(path)) if "path" in spoilt else path,
        draw(_query(query)) if "query" in spoilt else urlencode(query),
        {**sent, **draw(headers)} if "headers" in spoilt else sent,
        content,
    )


def _filled(draw: st.DrawFn, value: Any, stock: Stock) -> Any:
    """`value` with something of the stock for each `{name}`, and about half of what is in a query."""
    if isinstance(value, dict):
        return {name: _filled(draw, inner, stock) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(draw, inner, stock) for inner in value]
    if not isinstance(value, str):
        return value
    return NAMED.sub(lambda match: draw(st.sampled_from(stock[match[1]])), value)


def _content(call: Call, body: Any, is_spoilt: bool) -> st.SearchStrategy[tuple[bytes, str]]:
    if not call.is_api:
        return st.tuples(st.binary(max_size=60) | st.just(as_form(body)), st.just(FORM)) if is_spoilt else _form(body)
    whole = written(body) if body is not None else b""
    if not is_spoilt:
        return st.just((whole, JSON))
    wrong = st.one_of(broken(body or {}), broken(body or {}), broken(body or {}), garbled(whole)).map(_as_json)
    forms = st.sampled_from(
        [(as_form(body), FORM), (as_multipart(body), MULTIPART), (whole, FORM), (as_form(body), JSON)]
    )
    return st.one_of(wrong, wrong, wrong, forms)


def _as_json(content: bytes) -> tuple[bytes, str]:
    return content, JSON


def _form(body: Any) -> st.SearchStrategy[tuple[bytes, str]]:
    return st.just((as_form(body), FORM))


@st.composite
def _path(draw: st.DrawFn, path: str) -> str:
    """`path` with one of its segments replaced, doubled or followed by another."""
    segments = path.split("/")
    at = draw(st.integers(1, len(segments) - 1))
    other = draw(st.sampled_from(SEGMENTS) | texts.map(lambda text: quote(text, "", errors="surrogatepass")))
    instead = draw(st.sampled_from([[other], [segments[at], other], [segments[at] + other], [segments[at]] * 2, []]))
    return "/".join([*segments[:at], *instead, *segments[at + 1 :]]) or "/"


@st.composite
def _query(draw: st.DrawFn, query: Mapping[str, str]) -> str:
    """Return some of the parameters, with one of another value, one unknown, one doubled, or no query at all."""
    pairs = [pair for pair in query.items() if draw(st.booleans())]
    name = st.sampled_from(sorted(query)) if query else names
    wrong = draw(st.lists(st.tuples(name | names, texts), min_size=1, max_size=2))
    plain = urlencode([*pairs, *wrong], errors="surrogatepass")
    return draw(st.sampled_from([plain, plain, plain, f"{plain}&{plain}"]) | _raw_queries)


_raw_queries = st.one_of(
    st.sampled_from(
        ["%", "%zz=1", "limit=%FF", "limit=%00", "a" * 9000, "&" * 500, "=", "&&=&", "limit", "limit=1;b=2"]
    ),
    st.sampled_from(
        ["limit=\xff", "\xff=1", "limit=%ED%A0%80", "limit[]=1", "limit=1#a", "?limit=1", "limit=+1", "+=+"]
    ),
    st.integers(99, 200).map(lambda count: "&".join(f"a{number}=1" for number in range(count))),
    st.text("abc=&%0Ff[].+;\xff", max_size=40),
)


Place = tuple[Any, ...]
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"
TOO_LONG = 65_537


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Return the way to every value within `value`, itself included."""
    yield at
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in parts:
        yield from places(inner, (*at, name))


def put(value: Any, at: Place, new: Any) -> Any:
    """Return a copy of `value` with `new` at this place."""
    if not at:
        return new
    first, *rest = at
    copy = value.copy()
    copy[first] = put(value[first], tuple(rest), new)
    return copy


def at_place(value: Any, at: Place) -> Any:
    for step in at:
        value = value[step]
    return value


@st.composite
def broken(draw: st.DrawFn, body: Any) -> bytes:
    """`body`, a JSON value, with one to three of its values replaced, taken out, doubled or joined by others."""
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        place = draw(st.sampled_from(list(places(body))))
        found = at_place(body, place)
        change = draw(st.sampled_from(CHANGES)) if isinstance(found, dict) and found else _replace
        body = put(body, place, draw(change(found)))
    return written(body)


def _replace(_: Any) -> st.SearchStrategy[Any]:
    return anything


def _add(found: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda name, value: {**found, name: value}, names, anything)


def _take_out(found: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(found)).map(lambda gone: {name: found[name] for name in found if name != gone})


def _double(found: dict[str, Any]) -> st.SearchStrategy[Any]:
    again = st.tuples(st.sampled_from(list(found)), anything)
    return again.map(lambda pair: Pairs((*found.items(), pair)))


CHANGES = [_replace, _replace, _add, _take_out, _double]


@st.composite
def garbled(draw: st.DrawFn, body: bytes) -> bytes:
    """`body` as a bad program, line or proxy would send it."""
    at = draw(st.integers(0, len(body)))
    return draw(
        st.sampled_from(
            [
                body[:at],
                body[:at] + draw(st.binary(min_size=1, max_size=4)) + body[at:],
                body[:at] + draw(st.binary(min_size=1, max_size=1)) + body[at + 1 :],
                b"\xef\xbb\xbf" + body,
                body.decode(errors="replace").encode("utf-16"),
                body.decode(errors="replace").encode("utf-32-be"),
                body + body,
                body + b"\x00",
                body + b",",
                b"[" + body + b"]",
                b"// a\n" + body,
                body.replace(b'"', b"'"),
                body.ljust(TOO_LONG),
                body.ljust(TOO_LONG - 1),
                gzip.compress(body),
            ]
        )
        | st.binary(max_size=60)
    )


def as_form(body: Any) -> bytes:
    """Return the same members as a browser's form would send them."""
    return urlencode({name: str(value) for name, value in body.items()} if isinstance(body, dict) else {}).encode()


def as_multipart(body: Any) -> bytes:
    """Return the same members as a form with files would send them."""
    members = body.items() if isinstance(body, dict) else ()
    parts = [f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in members]
    return "".join([*parts, "--x--\r\n"]).encode()
