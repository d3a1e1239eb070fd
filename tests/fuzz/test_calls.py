"""The calls from which requests are drawn leave nothing out."""

from collections.abc import Iterator
from typing import Any

from tests.fuzz.inputs.calls import CALLS
from tests.openapi.conftest import Document, described

__all__ = ["described"]

FREE = {"metadata"}


def names_in(body: Any) -> Iterator[str]:
    """Return the names of all members of `body`, but for those of the merchant's own."""
    for name, inner in body.items() if isinstance(body, dict) else ():
        yield name
        yield from names_in(inner if name not in FREE else None)


def members_of(described: Document, schema: dict[str, Any]) -> Iterator[str]:
    """Return the names of all members that a request of this schema may have."""
    if "$ref" in schema:
        schema = described.content["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for inner in schema.get("allOf", []):
        yield from members_of(described, inner)
    for name, form in schema.get("properties", {}).items():
        yield name
        yield from members_of(described, form)


def asked(described: Document) -> Iterator[tuple[str, set[str], set[str]]]:
    """Return the members and parameters of each call of the document."""
    for (method, path), operation in described.operations().items():
        content = operation.get("requestBody", {}).get("content", {})
        members = [members_of(described, media["schema"]) for media in content.values()]
        parameters = {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"}
        yield f"{method} {path.split('{')[0]}", {name for names in members for name in names}, parameters


def test_every_member_and_parameter_of_every_call_is_sent(described: Document) -> None:
    for place, members, parameters in asked(described):
        calls = [call for call in CALLS if f"{call.method} {call.path}".startswith(place)]
        assert calls, place
        assert members <= {name for call in calls for name in names_in(call.body)}, place
        assert parameters <= {name for call in calls for name in call.query}, place
