"""What the log of requests keeps of bodies: their names, and the values that cannot be a card's, a key's or a person's.

This is an allow list. A value stays where the API declares its name, in a request or an object, and the value has a
declared form: a whole number, true or false, one of the words that are listed, an ID of ours, a moment, a currency. Of
any other value only the kind and the length stay: of texts that people write, addresses, cards, keys, and of all below
a name that is not declared.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from django.urls import get_resolver

from payments.api.validation.strict import StrictSerializer
from payments.ids import KINDS
from payments.rendering.objects.api_object import ApiObject, Schema
from payments.sensitive_data.redaction import CUT, redact

# Of a body that is read at all (that of a list would take a fifth of the list's time), of what is kept of it, and how
# deep: as deep as the API reads one.
MOST_BYTES = 8_000
MOST_CHARACTERS = 16_000
MOST_DEPTH = 10
# Longer numbers may be those of cards.
BELOW = 10**12
OURS = re.compile(
    rf"(?:{'|'.join(KINDS)})_[0-9a-f]{{12}}7[0-9a-f]{{3}}[89ab][0-9a-f]{{15}}"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z"
)
# Names of people may have as few capitals, so these are kept of codes alone.
CODE = re.compile(r"[A-Z]{2,3}")
CODED = ("currency", "country", "allowed_countries")
NAME = re.compile(r"([A-Za-z_]{1,40})(?:\[[a-z]{2,3}\])?")
# Our refusals are objects in these, and texts of ours in those; a text may begin with the dotted name of a member.
ENVELOPE, SAID = ("error", "detail"), ("type", "code", "message", "msg", "param", "doc_url", "request_id", "charge_id")
NAMED = re.compile(r"(?:[A-Za-z_.\[\]/ ]|(?<![0-9])[0-9]{1,2}(?![0-9])){0,200}")
TYPES = {"integer": int, "boolean": bool, "object": dict}
# Words and types.
Allowed = Set[Any]


def kept(body: bytes, *, is_refusal: bool = False) -> str:
    """Return what is kept of a body, as text; of a refusal of ours its messages too."""
    if len(body) > MOST_BYTES:
        return f"[{len(body):,} bytes]"
    try:
        shown = _shown(json.loads(body), is_refusal, 0) if body else ""
    except (ValueError, RecursionError):
        return f"[{len(body):,} bytes, no JSON]"
    text = json.dumps(shown, indent=2, ensure_ascii=False) if body else ""
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + CUT


def kept_query(query: str) -> str:
    """Return what is kept of a query, as that of a body with its members."""
    return kept(json.dumps(dict(parse_qsl(query, keep_blank_values=True))).encode()) if query else ""


def _shown(value: Any, is_refusal: bool, depth: int) -> Any:
    if not isinstance(value, dict | list) or depth > MOST_DEPTH:
        return _hidden(value)
    if isinstance(value, dict):
        return {_name(name): _member(name, inner, is_refusal, depth + 1) for name, inner in value.items()}
    return [_shown(each, is_refusal, depth + 1) for each in value]


def _name(name: str) -> str:
    """Return a name that is declared or has letters alone, without a key in them."""
    return redact(name) if name in declared() or NAME.fullmatch(name) else _hidden(name)


def _member(name: str, value: Any, is_refusal: bool, depth: int, *, in_list: bool = False) -> Any:
    if depth > MOST_DEPTH:
        return _hidden(value)
    if is_refusal and name == "loc" and isinstance(value, list):
        return [_member("param", each, is_refusal, depth + 1) for each in value]
    if is_refusal and name in SAID and isinstance(value, str):
        about, colon, said = (value, "", "") if name == "param" else value.rpartition(": ")
        return redact((about if NAMED.fullmatch(about) else _hidden(about)) + colon + said)
    allowed = declared().get(name.partition("[")[0], frozenset() if is_refusal and name in ENVELOPE else None)
    # Objects of the merchant's own have any names.
    if allowed is None or (isinstance(value, dict | list) and dict in allowed):
        return _hidden(value)
    if isinstance(value, list):
        return [_member(name, each, is_refusal, depth + 1, in_list=True) for each in value]
    if isinstance(value, dict):
        return _shown(value, is_refusal, depth)
    if isinstance(value, str):
        is_code = name in CODED and CODE.fullmatch(value)
        return value if value in allowed or is_code or OURS.fullmatch(value) else _hidden(value)
    # The numbers of a list may be one in groups.
    stays = value is None or (type(value) in allowed and abs(value) < BELOW and not in_list)
    return value if stays else _hidden(value)


def _hidden(value: Any) -> Any:
    """Return the kind and the length of a value in its place."""
    if isinstance(value, str):
        return f"[{len(value)} characters]" if value else value
    return f"[{len(value)} members]" if isinstance(value, dict | list) else "[number]"


@cache
def declared() -> Mapping[str, Allowed]:
    """Return what the API declares of the members with each name."""
    # With the addresses all that they take and show is loaded.
    assert get_resolver().url_patterns  # nosec B101
    found: dict[str, set[Any]] = defaultdict(set)
    for shown in ApiObject.declared:
        for name, member in shown.members.items():
            found[name].update(_allowed(member.form) if isinstance(member.form, dict) else ())
    for taken in _below(StrictSerializer):
        for name, field in taken().get_fields().items():
            found[name].update(_allowed(field.schema()) if hasattr(field, "schema") else ())
    return dict(found)


def _below(kind: type[StrictSerializer]) -> Iterator[type[StrictSerializer]]:
    for each in kind.__subclasses__():
        yield from (each, *_below(each))


def _allowed(form: Schema) -> Iterator[Any]:
    kinds = form.get("type", ())
    yield from (TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind in TYPES)
    yield from (word for word in (*form.get("enum", ()), form.get("const")) if isinstance(word, str))
    for each in (*form.get("anyOf", ()), form.get("items")):
        yield from _allowed(each) if isinstance(each, dict) else ()
