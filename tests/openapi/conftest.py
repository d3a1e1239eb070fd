"""The document, and what it says an answer looks like."""

import copy
import json
from functools import cache
from typing import Any

import pytest
from django.http import HttpResponse
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from payments.api.schema.document import document
from tests.pages.conftest import browser

__all__ = ["browser"]


class Document:
    """The OpenAPI document. In `closed`, no object has members that are not described."""

    def __init__(self) -> None:
        self._validator_at = cache(self._validator)
        self.content: dict[str, Any] = json.loads(document())
        self.closed = copy.deepcopy(self.content)
        for schema in self.closed["components"]["schemas"].values():
            if "properties" in schema:
                schema.setdefault("additionalProperties", False)

    def operations(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return the calls by method and path."""
        return {
            (method.upper(), path): operation
            for path, operations in self.content["paths"].items()
            for method, operation in operations.items()
        }

    def faults(self, reference: str, value: Any) -> list[str]:
        """Return the faults of `value` by the schema at the JSON pointer `reference`."""
        return [f"{fault.json_path}: {fault.message}" for fault in self._validator_at(reference).iter_errors(value)]

    def _validator(self, reference: str) -> Draft202012Validator:
        resource = DRAFT202012.create_resource(self.closed)
        return Draft202012Validator(
            {"$ref": f"urn:document#{reference}"},
            registry=Registry().with_resource("urn:document", resource),
            format_checker=Draft202012Validator.FORMAT_CHECKER,
        )

    def pointer_to(self, method: str, path: str, status: int) -> str:
        """Return the JSON pointer of the schema of an answer, which must be described."""
        at = f"/paths/{escaped(path)}/{method.lower()}/responses/{status}"
        response = self.content["paths"][path][method.lower()]["responses"].get(str(status))
        assert response, f"{status} is not described for {method} {path}"
        if "$ref" in response:
            at = response["$ref"].removeprefix("#")
        return f"{at}/content/{escaped('application/json')}/schema"

    def check(self, method: str, path: str, response: HttpResponse) -> None:
        """Fails unless `response` is an answer to `method` `path` (a template) as described."""
        assert response["Content-Type"] == "application/json"
        pointer = self.pointer_to(method, path, response.status_code)
        assert self.faults(pointer, json.loads(response.content)) == []


def escaped(part: str) -> str:
    """`part` as one step of a JSON pointer in a URI fragment (RFC 6901)."""
    return part.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")


@pytest.fixture(scope="module")
def described() -> Document:
    return Document()
