"""JSON that no JSON library would write."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Raw:
    """Bytes that go into a body as they are, where a value is due."""

    content: bytes


@dataclass(frozen=True)
class Pairs:
    """An object whose names may come more than once, each a text or bytes as they are."""

    members: tuple[tuple[Any, Any], ...]


def written(value: Any) -> bytes:
    """`value` as compact JSON, in which `Raw` and `Pairs` may stand anywhere."""
    if isinstance(value, Raw):
        return value.content
    if isinstance(value, dict):
        value = Pairs(tuple(value.items()))
    if isinstance(value, Pairs):
        return b"{" + b",".join(written(name) + b":" + written(inner) for name, inner in value.members) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(written, value)) + b"]"
    return json.dumps(value).encode()
