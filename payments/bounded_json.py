"""JSON that others sent, read no deeper than a bound: the library alone would end in a RecursionError."""

import json
from typing import Any

# Providers' deepest messages have some ten levels.
MAX_NESTING = 32


class TooDeep(ValueError):
    """What was sent nests deeper than it may."""


def loads(content: str | bytes, **how: Any) -> Any:
    """What `content` says, as `json.loads` reads it. Raises ValueError, of which TooDeep is one."""
    try:
        value = json.loads(content, **how)
    except RecursionError:
        raise TooDeep("nested too deeply") from None
    require_shallow(value, MAX_NESTING)
    return value


def require_shallow(value: Any, levels: int) -> None:
    """Raises TooDeep where objects and lists lie in each other more than `levels` deep."""
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
