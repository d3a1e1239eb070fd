"""Messages as programs write them: what is no message is refused in words of ours, before the package reads it."""

from collections.abc import Mapping
from typing import Any

from payments.api.validation.parsers import StrictJsonParser

# Of JSON-RPC.
NO_MESSAGE = -32600
# A later version takes one message in each request. These have no header that names them.
VERSIONS_WITH_LISTS = ("", "2024-11-05", "2025-03-26")
MOST_MESSAGES = 20
SHAPE = 'A message is a JSON object with `"jsonrpc": "2.0"` and a `method`, as in `{"jsonrpc": "2.0", "id": 1, '
SHAPE += '"method": "tools/list"}`.'
NO_ID = "The `id` must be a text or a whole number. A notification has none."
NO_PARAMS = "The `params` of a message must be an object."
ALONE = "This version of the protocol takes one message in each request."
TOO_MANY = f"A request takes {MOST_MESSAGES} messages at most."

Message = dict[str, Any]


class MessageParser(StrictJsonParser):
    """A parser of one message, or of a list of them."""

    takes_lists = True


class NoMessage(Exception):
    """Why a body, or an object of it, is no message: a sentence for its sender."""


def as_read(message: Any) -> Message:
    """Return a message as the package reads it: with an integer as ID, and with objects where PHP writes `[]`.

    Raises NoMessage.
    """
    if (
        not isinstance(message, Mapping)
        or message.get("jsonrpc") != "2.0"
        or not isinstance(message.get("method"), str)
    ):
        raise NoMessage(SHAPE)
    read = {**message}
    if "id" in read:
        read["id"] = _id_of(read["id"])
    if read.get("params") == []:
        read["params"] = {}
    if isinstance(params := read.get("params"), Mapping):
        read["params"] = {name: {} if name == "arguments" and part == [] else part for name, part in params.items()}
    elif params is not None:
        raise NoMessage(NO_PARAMS)
    return read


def known_id(message: Any) -> str | int | None:
    """Return the ID that an error about `message` has: its own, if it is one."""
    try:
        return _id_of(message.get("id")) if isinstance(message, Mapping) else None
    except NoMessage:
        return None


def require_list_allowed(messages: list[Any], version: str) -> None:
    """Raise NoMessage where the version of the protocol, or the service, takes fewer messages at once."""
    if version not in VERSIONS_WITH_LISTS:
        raise NoMessage(ALONE)
    if len(messages) > MOST_MESSAGES:
        raise NoMessage(TOO_MANY)


def _id_of(value: Any) -> str | int:
    match value:
        case bool():
            pass
        case str() | int():
            return value
        case float() if value.is_integer():
            # As programs write 1 that hold numbers as doubles.
            return int(value)
    raise NoMessage(NO_ID)
