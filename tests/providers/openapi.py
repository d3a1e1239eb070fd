"""A provider's OpenAPI description, to which every body sent and every answer read is held."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

SPECS = Path(__file__).parent / "specs"
PARAMETER = re.compile(r"\{[^}]+\}")


class Description:
    """The description in a file of `specs/`. What is not as it says fails an assertion that says where."""

    def __init__(self, name: str) -> None:
        self._document: dict[str, Any] = json.loads((SPECS / name).read_text())
        resource = Resource.from_contents(self._document, default_specification=DRAFT202012)
        self._registry: Registry[Any] = Registry().with_resource("urn:described", resource)

    def check_request(self, method: str, path: str, body: Any) -> None:
        """Check that the description allows this request."""
        self._check(body, *self._operation(method, path), "requestBody", "content", "application/json", "schema")

    def check_form(self, method: str, path: str, fields: dict[str, str]) -> None:
        """Check that the description allows a form with these fields."""
        self._check(fields, *self._operation(method, path), "requestBody", "content", "multipart/form-data", "schema")

    def check_answer(self, method: str, path: str, status: int, body: Any) -> None:
        """Check that the description allows this answer; None is one without a body."""
        place = (*self._operation(method, path), "responses", str(status))
        if body is None:
            _, template, name = self._operation(method, path)
            assert "content" not in self._document["paths"][template][name]["responses"][str(status)]
            return
        self._check(body, *place, "content", "application/json", "schema")

    def check_webhook(self, name: str, body: Any) -> None:
        """Check that the description allows this webhook."""
        place = ("webhooks", name, "post", "requestBody", "content", "application/json", "schema")
        self._check(body, *place)

    def _operation(self, method: str, path: str) -> tuple[str, str, str]:
        """Where the operation stands; an address without parameters goes before one with them."""
        [template, *_] = [*self._templates(path), None]
        assert template, f"{path} is not described"
        return "paths", template, method.lower()

    def _templates(self, path: str) -> Iterator[str]:
        for template in sorted(self._document["paths"], key=lambda each: each.count("{")):
            if re.fullmatch(PARAMETER.sub("[^/]+", template), path):
                yield template

    def _check(self, body: Any, *place: str) -> None:
        pointer = "/".join(part.replace("~", "~0").replace("/", "~1") for part in place)
        validator = Draft202012Validator({"$ref": f"urn:described#/{pointer}"}, registry=self._registry)
        wrong = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(body)]
        assert not wrong, (place, wrong)


@cache
def described(name: str) -> Description:
    """Load the description in a file of `specs/` once."""
    return Description(name)
