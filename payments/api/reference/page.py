"""What the reference shows: the OpenAPI document in the order and the words of the page."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from payments.api.guides.code import coloured
from payments.api.guides.contents import CONTENTS
from payments.api.guides.markdown import read_guide
from payments.api.reference.markdown import html_of, inline_html, sections_of
from payments.api.reference.members import MemberRow, Members
from payments.api.reference.samples import METHODS

Document = dict[str, Any]

# The objects that a merchant's program meets, which get a section; others are shown where they are used.
OBJECTS = ("Source", "Charge", "Refund", "Customer", "Event", "Account", "Balance", "Clock")
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer: `examples` are its titles and bodies."""

    status: str
    html: SafeString
    examples: Sequence[tuple[str, SafeString]]


@dataclass(frozen=True, slots=True)
class Operation:
    """A call. `answer` names the type of a good answer, `target` its object's section."""

    anchor: str
    method: str
    path: str
    title: str
    html: SafeString
    rows: Sequence[tuple[str, Sequence[MemberRow]]]
    samples: Sequence[tuple[str, SafeString]]
    answer: str
    target: str
    good: Sequence[ShownAnswer]
    refused: Sequence[ShownAnswer]


def page(content: bytes, public_url: str) -> dict[str, Any]:
    """Return the context of the template, for an OpenAPI document and the service's address."""
    document = json.loads(content)
    schemas = document["components"]["schemas"]
    members = Members(schemas, {name for name in OBJECTS if name in schemas})
    introduction, *sections = sections_of(document["info"]["description"])
    operations = list(_operations(document, members))
    return {
        "introduction": introduction[2],
        "sections": sections,
        "groups": [
            (tag["name"], tag["description"], [one for name, one in operations if name == tag["name"]])
            for tag in document["tags"]
        ],
        "webhooks": list(_webhooks(document)),
        "webhook": _webhook_text(document),
        "objects": [
            (name, inline_html(schemas[name].get("description", "")), members.rows(schemas[name]))
            for name in OBJECTS
            if name in schemas
        ],
        "guides": [(group, [read_guide(name, public_url) for name in names]) for group, names in CONTENTS.items()],
    }


def _operations(document: Document, members: Members) -> Iterator[tuple[str, Operation]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in METHODS:
                yield operation["tags"][0], _operation(document, members, method, path, operation)


def _operation(document: Document, members: Members, method: str, path: str, operation: Document) -> Operation:
    parameters = operation.get("parameters", [])
    body = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema", {})
    rows = [(f"In the {place}", members.parameters(parameters, place)) for place in ("path", "query")]
    rows += [("Body", members.rows(body)), ("Headers", members.parameters(parameters, "header"))]
    answers = [_answer(document, status, response) for status, response in operation["responses"].items()]
    good = next(response for status, response in operation["responses"].items() if status.startswith("2"))
    schema = good.get("content", {}).get(JSON, {}).get("schema", {})
    kind = members.type_of(schema) if schema else "text"
    target = next((name for name in members.linked if kind.removeprefix("list of ") == name), "")
    return Operation(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        title=operation["summary"],
        html=html_of(operation["description"]),
        rows=[(title, found) for title, found in rows if found],
        samples=[
            (sample["label"], coloured(sample["source"], sample["lang"].lower()))
            for sample in operation["x-codeSamples"]
        ],
        answer=kind,
        target=target,
        good=[answer for answer in answers if answer.status.startswith("2")],
        refused=[answer for answer in answers if not answer.status.startswith("2")],
    )


def _answer(document: Document, status: str, response: Document) -> ShownAnswer:
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    examples = response.get("content", {}).get(JSON, {}).get("examples", {})
    return ShownAnswer(
        status=status,
        html=inline_html(response["description"]),
        examples=[(one.get("summary", name), _shown(one["value"])) for name, one in examples.items()],
    )


def _webhooks(document: Document) -> Iterator[tuple[str, str, SafeString]]:
    """Yield name, meaning and example of each type of event."""
    for name, calls in document["webhooks"].items():
        examples = calls["post"]["requestBody"]["content"][JSON]["examples"]
        yield name, calls["post"]["summary"], _shown(next(iter(examples.values()))["value"])


def _webhook_text(document: Document) -> dict[str, Any]:
    """Return what all webhooks share: their description, and the headers with their meanings."""
    call = next(iter(document["webhooks"].values()))["post"]
    headers = [(one["name"], inline_html(one["description"])) for one in call["parameters"]]
    return {"html": html_of(call["description"]), "headers": headers}


def _shown(value: Any) -> SafeString:
    return coloured(json.dumps(value, indent=2, ensure_ascii=False), "json")
