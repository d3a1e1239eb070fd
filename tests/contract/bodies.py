"""Request bodies put together from dotted names, and texts that break one rule each."""

from copy import deepcopy
from typing import Any

import pytest

# Whatever is no string in JSON, null apart.
NO_STRINGS = [5, 1.5, True, [], {}]
NO_INTEGERS = ["100", 100.0, True, [], {}]
NO_BOOLEANS = ["true", 1, 0, "", [], {}]
# Not `[]`: PHP writes an empty object so.
NO_OBJECTS = ["text", 5, True, [1]]
# None of these is in P, though some regular expressions take the last ones for letters, digits or an end.
BEYOND_P = ["é€", "%", "a/b", "a@b", '"', "a\x01", "日本。", "١٢٣", "１２３", "abc\n"]


def with_members(body: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of `body` in which each member of a dotted name (`owner.billing.name`) has its value."""
    changed = deepcopy(body)
    for name, value in members.items():
        *path, last = name.split(".")
        inner = changed
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return changed


def value_at(body: Any, name: str) -> Any:
    """Return the member of `body` at a dotted name, None if it is absent."""
    for part in name.split("."):
        body = body.get(part) if isinstance(body, dict) else None
    return body


def each(values: list[Any]) -> pytest.MarkDecorator:
    """One test for each of these values."""
    return pytest.mark.parametrize("value", values, ids=[ascii(value)[:40] for value in values])
