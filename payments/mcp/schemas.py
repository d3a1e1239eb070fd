"""Schemas of tools in the part of JSON Schema that every program hands to a model, and arguments as they declare them.

For one schema that is written otherwise some programs refuse the whole list: for `$ref`, a list of types, a keyword
that their model does not know, a bracket in a name. The service checks each argument, whatever the schema leaves out.
"""

import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
BOUNDS = frozenset(f"{end}{of}" for end in ("min", "max") for of in ("imum", "Length", "Items"))
KEPT = BOUNDS | {"type", "enum", "pattern", "required"}
BRACKETS = re.compile(r"\[(\w+)\]")
REFERENCE = "#/components/schemas/"


def name_of(parameter: str) -> str:
    """Return the name of an argument for a parameter of the API, which may have brackets."""
    return BRACKETS.sub(r"_\1", parameter)


def narrowed(schema: Schema, known: Mapping[str, Schema]) -> dict[str, Any]:
    """Return a schema of the OpenAPI document, whose components are `known`, as every program takes it."""
    whole = _whole(schema, known)
    narrow = {word: value for word, value in whole.items() if word in KEPT}
    if isinstance(types := whole.get("type"), list):
        narrow["type"] = next(each for each in types if each != "null")
    if "enum" in whole:
        narrow["enum"] = [each for each in whole["enum"] if each is not None]
    default = f" Default: `{whole['default']}`." if "default" in whole else ""
    if described := whole.get("description", ""):
        narrow["description"] = name_of(described) + default
    if "items" in whole:
        narrow["items"] = narrowed(whole["items"], known)
    if "properties" in whole:
        members = {name_of(name): narrowed(inner, known) for name, inner in whole["properties"].items()}
        # A member without a type is one that the service ignores.
        narrow |= {"properties": {name: inner for name, inner in members.items() if "type" in inner}}
        narrow["additionalProperties"] = False
    return narrow


def _whole(schema: Schema, known: Mapping[str, Schema]) -> Schema:
    """Return the schema itself where `schema` only refers to it, or offers null beside it."""
    for choice in schema.get("anyOf", ()):
        if choice != {"type": "null"}:
            return {**_whole(choice, known), **schema}
    if reference := schema.get("$ref"):
        return {**known[reference.removeprefix(REFERENCE)], **schema}
    return schema


def as_declared(value: Any, schema: Schema) -> Any:
    """Return an argument with each number that its schema calls an integer as one: 2.0 is one in JSON Schema."""
    match value:
        case Mapping():
            members = schema.get("properties", {})
            return {name: as_declared(inner, members.get(name, {})) for name, inner in value.items()}
        case list():
            return [as_declared(inner, schema.get("items", {})) for inner in value]
        case float() if schema.get("type") == "integer" and value.is_integer():
            return int(value)
    return value
