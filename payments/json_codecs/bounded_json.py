"""Untrusted JSON, read to a limited depth: the standard library would raise RecursionError."""

import json
from typing import Any

# Providers' deepest messages have some ten levels.
MAX_NESTING = 32


class TooDeep(ValueError):
    """The JSON is nested too deeply."""


def loads(content: str | bytes, **how: Any) -> Any:
    """Return `content` as `json.loads` reads it; raise ValueError, of which TooDeep is one."""
    try:
        value = json.loads(content, **how)
    except RecursionError:
        raise TooDeep("nested too deeply") from None
    require_shallow(value, MAX_NESTING)
    return value


def require_shallow(value: Any, levels: int) -> None:
    """Raise TooDeep if objects and lists are nested more than `levels` deep."""
    level = [value]
    for _ in range(levels):
        level = [part for outer in level for part in _parts(outer)]
        if not level:
            return
    if any(isinstance(each, (dict, list)) for each in level):
        raise TooDeep("nested too deeply")


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
