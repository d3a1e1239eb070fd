"""Bodies: a right one in which a few things are wrong, or one that is no JSON at all."""

import gzip
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from hypothesis import strategies as st

from tests.fuzz.inputs.raw_json import Pairs, written
from tests.fuzz.inputs.values import anything, names

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
