"""The links between operations in the OpenAPI document: which ones take an ID that an answer shows."""

from dataclasses import dataclass
from typing import Any

from payments.api.schema.members import ID_DIGITS

Document = dict[str, Any]

# The expression of an answer's own ID.
OWN = "$response.body#/id"
# Members of bodies that name an object, with the pattern of its ID: their own forms take any text.
IN_BODIES = {"source": f"^src_{ID_DIGITS}$"}


@dataclass(frozen=True, slots=True)
class Target:
    """An operation that takes IDs: its name, and the patterns of IDs by parameter or member of its body."""

    operation_id: str
    is_reading: bool
    in_path: dict[str, str]
    in_query: dict[str, str]
    in_body: dict[str, str]


def add_links(document: Document) -> None:
    """Add to the good answers of each operation, in place, the operations that can follow by an ID of the answer."""
    operations = [pair for path in document["paths"].values() for pair in path.items()]
    schemas = document["components"]["schemas"]
    targets = [_target(schemas, method, operation) for method, operation in operations]
    for method, operation in operations:
        for status, answer in operation["responses"].items():
            # A deleted object leads nowhere.
            shown = _ids_of(schemas, answer) if status.startswith("2") and method != "delete" else {}
            others = [target for target in targets if target.operation_id != operation["operationId"]]
            if links := {target.operation_id: link for target in others if (link := _link(shown, target))}:
                answer["links"] = links


def _target(schemas: Document, method: str, operation: Document) -> Target:
    places: dict[str, dict[str, str]] = {"path": {}, "query": {}, "header": {}}
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path" or parameter["schema"].get("pattern", "").endswith(f"_{ID_DIGITS}$"):
            places[parameter["in"]][parameter["name"]] = parameter["schema"].get("pattern", "")
    body = _members(schemas, operation.get("requestBody", {}))
    named = {name: pattern for name, pattern in IN_BODIES.items() if name in body}
    return Target(operation["operationId"], method == "get", places["path"], places["query"], named)


def _link(shown: dict[str, str], target: Target) -> Document:
    """Return the link from an answer with IDs of these patterns, empty where the target needs another one.

    Of another object than its own, an answer leads only to where that is read.
    """
    taken = target.in_path | target.in_query
    parameters = {name: shown[form] for name, form in taken.items() if form in shown}
    body = {name: shown[form] for name, form in target.in_body.items() if form in shown}
    is_own = OWN in [*parameters.values(), *body.values()]
    if target.in_path.keys() - parameters.keys() or not (is_own or (target.is_reading and target.in_path)):
        return {}
    sent = ({"parameters": parameters} if parameters else {}) | ({"requestBody": body} if body else {})
    return {"operationId": target.operation_id, **sent}


def _ids_of(schemas: Document, answer: Document) -> dict[str, str]:
    """Return by pattern the expression of each ID in an answer, of its own before others."""
    members = {name: form.get("pattern", "") for name, form in _members(schemas, answer).items()}
    ids = {
        pattern: f"$response.body#/{name}" for name, pattern in members.items() if pattern.endswith(f"_{ID_DIGITS}$")
    }
    own = members.get("id", "")
    return ids | ({own: OWN} if own else {})


def _members(schemas: Document, part: Document) -> Document:
    """Return the members of the object in a body or answer."""
    schema = part.get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    members: Document = schemas.get(name, schema).get("properties", {})
    return members
