"""A tool for each reading call of the API, made of the document that describes it."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import quote

from django.urls import resolve

from payments.api.schema.document import document
from payments.json_codecs.verbatim_json import loads
from payments.mcp.tools import Arguments, Asked, Refusal, Tool, read

# It only tries a key.
LEFT_OUT = ("ping",)
# A tool answers at once.
WITHOUT = ("wait",)


@cache
def description() -> dict[str, Any]:
    """Return the OpenAPI document."""
    described: dict[str, Any] = loads(document().decode())
    return described


@cache
def reads() -> tuple[Tool, ...]:
    """Return a tool for each call that reads."""
    paths = description()["paths"].items()
    gets = [(path, calls["get"]) for path, calls in paths if "get" in calls and path.startswith("/v2/")]
    return tuple(_tool(path, call) for path, call in gets if call["operationId"] not in LEFT_OUT)


def _tool(path: str, call: Mapping[str, Any]) -> Tool:
    parameters = [each for each in call.get("parameters", ()) if each["name"] not in WITHOUT]
    schema = {
        "type": "object",
        "properties": {each["name"]: each["schema"] | {"description": each["description"]} for each in parameters},
        "required": [each["name"] for each in parameters if each.get("required")],
        "additionalProperties": False,
    }
    view: Any = resolve(path).func
    right = view.cls.rights[view.actions["get"]]
    in_path = [each["name"] for each in parameters if each["in"] == "path"]
    text = f"{call['summary']}. {call['description']}"
    return Tool(call["operationId"], text, schema, partial(_read, path, in_path), right)


def _read(path: str, in_path: list[str], asked: Asked, arguments: Arguments) -> Any:
    missing = [name for name in in_path if not arguments.get(name)]
    if missing:
        raise Refusal("missing", f"This argument is required: {missing[0]}.")
    named = {name: quote(str(arguments[name]), safe="") for name in in_path}
    query = {name: value for name, value in arguments.items() if name not in in_path and value is not None}
    return read(asked, path.format(**named), query)
