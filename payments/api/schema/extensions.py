"""Extensions of drf-spectacular for kaha's own fields, serializers and API keys."""

from typing import Any

from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema

from payments.api.validation.fields import Schema


class KeyScheme(OpenApiAuthenticationExtension):
    """The two ways to send an API key."""

    target_class = "payments.api.access.authentication.KeyAuthentication"
    name = ["basic", "bearer"]

    def get_security_definition(self, auto_schema: AutoSchema) -> list[Schema]:
        return [
            {
                "type": "http",
                "scheme": "basic",
                "description": "The key as user name, with an empty password.",
            },
            {"type": "http", "scheme": "bearer", "description": "The key as token."},
        ]

    def get_security_requirement(self, auto_schema: AutoSchema) -> list[dict[str, list[Any]]]:
        return [{"basic": []}, {"bearer": []}]


class MemberForm(OpenApiSerializerFieldExtension):
    target_class = "payments.api.schema.members.Member"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> Schema:
        return dict(self.target.schema())


class StrictFieldForm(OpenApiSerializerFieldExtension):
    target_class = "payments.api.validation.fields.StrictField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> Schema:
        return dict(self.target.schema())


class StrictObjectForm(OpenApiSerializerExtension):
    """A request object: closed, with the members that are ignored and the rules between members."""

    target_class = "payments.api.validation.strict.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> Schema:
        form = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        ignored = {name: {"description": "Accepted and ignored."} for name in sorted(self.target.ignored)}
        # JSON Schema 2020-12 allows a description beside `$ref`, so the wrapper `allOf` of OpenAPI 3.0 is not needed.
        members = {
            name: {**member.pop("allOf", [{}])[0], **member} for name, member in form.get("properties", {}).items()
        }
        return form | {"properties": members | ignored, "additionalProperties": False, **self.target.rules}
