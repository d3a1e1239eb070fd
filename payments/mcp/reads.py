"""A tool for each reading call of the API, made of the document that describes it."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import quote

from django.urls import resolve

from payments.api.schema.document import document
from payments.json_codecs.verbatim_json import loads
from payments.mcp.schemas import name_of, narrowed
from payments.mcp.tools import Arguments, Asked, Refusal, Tool, read

# It only tries a key.
LEFT_OUT = ("ping",)
# A tool answers at once.
WITHOUT = ("wait",)
# What says so of the API, where an assistant has `more` in place of a path.
OF_THE_API = ("`next`", "`wait`")
MORE = " If `more` is in the answer, call again with its `start_after`."


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
    properties = {each["name"]: each["schema"] | {"description": _said(each["description"])} for each in parameters}
    required = [each["name"] for each in parameters if each.get("required")]
    schema = narrowed({"type": "object", "properties": properties, "required": required}, {})
    view: Any = resolve(path).func
    right = view.cls.right_for(view.actions["get"], "GET")
    in_path = [each["name"] for each in parameters if each["in"] == "path"]
    in_query = {name_of(each["name"]): each["name"] for each in parameters if each["in"] == "query"}
    text = f"{call['summary']}. {_said(call['description'])}{MORE if 'start_after' in properties else ''}"
    return Tool(call["operationId"], text, schema, partial(_read, path, in_path, in_query), right)


def _said(text: str) -> str:
    """Return a description without its sentences about what no tool has."""
    sentences = (each for each in text.split(".") if not any(name in each for name in OF_THE_API))
    return ".".join(sentences).strip()


def _read(path: str, in_path: list[str], in_query: Mapping[str, str], asked: Asked, arguments: Arguments) -> Any:
    missing = [name for name in in_path if not arguments.get(name)]
    if missing:
        raise Refusal("missing", f"This argument is required: {missing[0]}.")
    named = {name: quote(str(arguments[name]), safe="") for name in in_path}
    query = {name: arguments[argument] for argument, name in in_query.items() if arguments.get(argument) is not None}
    try:
        return read(asked, path.format(**named), query)
    except Refusal as refusal:
        raise Refusal(refusal.code, name_of(str(refusal))) from refusal
