from typing import Any

from payments.json_codecs.verbatim_json import to_bytes

__all__ = ["to_bytes", "without_absent"]


def without_absent(members: dict[str, Any]) -> dict[str, Any]:
    """Return the members without absent ones, which are left out instead of sent as null."""
    return {name: value for name, value in members.items() if value is not None}
