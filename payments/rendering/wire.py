import json
from typing import Any

# Made once, which `json.dumps` does at each call that is not given its defaults.
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def to_bytes(value: Any) -> bytes:
    """JSON as kaha sends it: UTF-8, compact, members in the order given."""
    return ENCODER.encode(value).encode()


def without_absent(members: dict[str, Any]) -> dict[str, Any]:
    """The members that are there: absent optional ones are left out instead of sent as null."""
    return {name: value for name, value in members.items() if value is not None}
