"""The members of the document's schemas, as the rows of a list that a developer reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from payments.api.reference.literals import JSON, literal
from payments.api.reference.markdown import inline_html

Schema = dict[str, Any]

# The keywords of a least and a greatest value, and what they count.
BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " elements"),
    ("minProperties", "maxProperties", " members"),
)


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member or parameter: `type` is a text, `target` the object that it links to, `rows` the members of its own."""

    name: str
    type: str
    required: bool
    html: str
    choices: Sequence[str] = ()
    bounds: Sequence[str] = ()
    target: str = ""
    rows: Sequence["MemberRow"] = field(default=())


class Members:
    """Makes rows of schemas that may refer to `schemas`, the named ones. `linked` have sections of their own."""

    def __init__(self, schemas: dict[str, Schema], linked: set[str]) -> None:
        self.schemas = schemas
        self.linked = linked

    def rows(self, schema: Schema) -> list[MemberRow]:
        """Return the rows of an object's members, required ones first."""
        schema, _ = self._resolve(schema)
        required = set(schema.get("required", ()))
        rows = [self._row(name, one, name in required) for name, one in schema.get("properties", {}).items() if one]
        return sorted(rows, key=lambda row: not row.required)

    def parameters(self, parameters: Sequence[Schema], place: str) -> list[MemberRow]:
        """Return the rows of the parameters in `place`: path, query or header."""
        return [
            self._row(one["name"], one["schema"] | {"description": one["description"]}, one.get("required", False))
            for one in parameters
            if one["in"] == place
        ]

    def _row(self, name: str, schema: Schema, required: bool) -> MemberRow:
        resolved, target = self._resolve(schema)
        element, element_target = self._resolve(resolved.get("items", {}))
        target = target or element_target
        is_linked = target in self.linked
        return MemberRow(
            name=name,
            type=self.type_of(schema),
            required=required,
            html=inline_html((resolved | schema).get("description", "")),
            choices=[str(choice) for choice in (element | resolved).get("enum", ()) if choice is not None],
            bounds=list(_bounds(resolved)),
            target=target if is_linked else "",
            rows=() if is_linked else self.rows(element or resolved),
        )

    def type_of(self, schema: Schema) -> str:
        """Return the type in words, such as `array of Refund`, `string or null`, `Charge or Refund`."""
        if name := _reference(schema):
            return name if name in self.linked else self.type_of(self.schemas[name])
        if schema.get("properties", {}).get("object", {}).get("const") == "list":
            return f"list of {self.type_of(schema['properties']['data']['items'])}"
        if options := schema.get("oneOf") or schema.get("anyOf"):
            return " or ".join(dict.fromkeys(self.type_of(option) for option in options))
        if schema.get("type") == "array":
            return f"array of {self.type_of(schema.get('items', {}))}"
        types = schema.get("type", "any")
        named = " or ".join(types) if isinstance(types, list) else str(types)
        shown = {"date-time": "time", "uri": "URL", "uri-template": "URL", "email": "e-mail address"}.get(
            schema.get("format", ""), ""
        )
        return named.replace("string", shown) if shown else named

    def _resolve(self, schema: Schema) -> tuple[Schema, str]:
        """Return the schema without references, and the name that it was referred to by."""
        if name := _reference(schema):
            return self.schemas[name], name
        options = [one for one in schema.get("oneOf") or schema.get("anyOf") or () if one.get("type") != "null"]
        return self._resolve(options[0]) if len(options) == 1 else (schema, "")


def _reference(schema: Schema) -> str:
    """Return the name of the schema that this one stands for, also with a description beside it, or ""."""
    wrapped: Schema = schema["allOf"][0] if len(schema.get("allOf", ())) == 1 else schema
    return str(wrapped.get("$ref", "")).rpartition("/")[2]


def _bounds(schema: Schema) -> Iterator[str]:
    for least_name, most_name, unit in BOUNDS:
        least, most = schema.get(least_name), schema.get(most_name)
        if least is not None and least == most:
            yield f"{least}{unit}"
        elif most is not None:
            yield f"{least} to {most}{unit}" if least else f"at most {most}{unit}"
        elif least:
            yield f"at least {least}{unit}"
    if "default" in schema:
        yield f"default {literal(schema['default'], JSON)}"
