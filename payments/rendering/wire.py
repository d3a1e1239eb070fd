from typing import Any

from payments.json_codecs.verbatim_json import to_bytes

__all__ = ["to_bytes", "without_absent"]


def without_absent(members: dict[str, Any]) -> dict[str, Any]:
    """Drop absent members, which are left out instead of sent as null; return the same members."""
    for name in [name for name, value in members.items() if value is None]:
        del members[name]
    return members
