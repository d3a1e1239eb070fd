from typing import Any

from payments.documents import dumps


def to_bytes(value: Any) -> bytes:
    """JSON as kaha sends it: UTF-8, compact, members in the order given."""
    return dumps(value).encode()


def without_absent(members: dict[str, Any]) -> dict[str, Any]:
    """The members that are there: absent optional ones are left out instead of sent as null."""
    return {name: value for name, value in members.items() if value is not None}
