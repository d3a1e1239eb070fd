from typing import Any

from payments.json_codecs.verbatim_json import dumps


def to_bytes(value: Any) -> bytes:
    """Return `value` as JSON in UTF-8: compact, members in the order given."""
    return dumps(value).encode()


def without_absent(members: dict[str, Any]) -> dict[str, Any]:
    """Return the members without absent ones, which are left out instead of sent as null."""
    return {name: value for name, value in members.items() if value is not None}
