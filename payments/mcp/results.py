"""Results as texts: without secrets, with what payers and shops wrote marked as theirs, and of bounded size."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from payments.json_codecs.verbatim_json import to_bytes
from payments.mcp.reads import description
from payments.mcp.tools import Own, Refusal
from payments.sensitive_data.redaction import redact

MOST_BYTES = 48 * 1024
FOREIGN = "foreign_text"
# What no sentence looks like: an ID, a time, a currency or country, the digits of a date or a card's end.
OWN_FORM = re.compile(
    r"[a-z]{2,6}_[0-9a-f]{32}|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z)?|[A-Z]{2,3}|[0-9]{1,4}", re.ASCII
)


def foreign(text: object) -> dict[str, str]:
    """Return a text of a payer or a shop, marked as theirs."""
    return {FOREIGN: redact(str(text))}


def text_of(result: Any) -> str:
    """Return a result as JSON; of a list as many objects as there is room for. Raise Refusal for a larger object."""
    marked = _marked(result)
    if isinstance(marked, dict) and isinstance(rows := marked.get("data"), list):
        marked = _page(marked, rows)
    written = to_bytes(marked)
    if len(written) > MOST_BYTES:
        raise Refusal("too_large", "This object is too large for a tool. Read it by the API.")
    return written.decode()


def _page(body: dict[str, Any], rows: list[Any]) -> dict[str, Any]:
    kept, room = [], MOST_BYTES - 1024
    for row in rows:
        room -= len(to_bytes(row)) + 1
        if room < 0:
            break
        kept.append(row)
    if not kept and rows:
        return body
    is_whole = len(kept) == len(rows) and "next" not in body
    following = {} if is_whole else {"more": {"start_after": kept[-1]["id"]}}
    return {name: value for name, value in body.items() if name != "next"} | {"data": kept} | following


def _marked(value: Any, name: str = "") -> Any:
    match value:
        case Own():
            return str(value)
        # Names of metadata are the shop's too.
        case Mapping() if name == "metadata":
            return foreign(to_bytes(value).decode()) if value else {}
        case Mapping() if value.keys() == {FOREIGN}:
            return value
        case Mapping():
            return {key: _marked(inner, key) for key, inner in value.items()}
        case list() | tuple():
            return [_marked(inner, name) for inner in value]
        case str() if value and not (OWN_FORM.fullmatch(value) or value in _own_words()):
            return foreign(value)
        case _:
            return value


@cache
def _own_words() -> frozenset[str]:
    """Return the words of the API: each value that its description lists."""
    return frozenset(_words(description()["components"]["schemas"]))


def _words(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        listed = part.get("enum")
        words = [*(listed if isinstance(listed, list) else ()), part.get("const")]
        yield from (word for word in words if isinstance(word, str))
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _words(inner)
