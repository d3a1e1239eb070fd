"""The OpenAPI 3.1 document. The settings name its hooks, so drf-spectacular loads all descriptions with them; and its
extensions for kaha's own fields, serializers and API keys.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from threading import Lock
from typing import Any

from django.conf import settings
from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import append_meta, build_array_type, build_object_type, get_doc
from rest_framework.fields import empty

from payments.api.schema import calls
from payments.api.schema.callbacks import webhooks
from payments.api.schema.introduction import introduction
from payments.api.schema.operations import add_links
from payments.api.schema.responses import NAMED
from payments.api.validation import metadata
from payments.api.validation.checkout import SessionInput
from payments.api.validation.fields import Schema
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import StrictSerializer
from payments.json_codecs.verbatim_json import to_bytes
from payments.providers.simulator.scenarios import SCENARIOS
from payments.rendering.objects.api_object import Member
from payments.rendering.objects.checkout import SESSION
from payments.rendering.objects.member import id_form

# Each module describes its views.
for module in iter_modules(calls.__path__, f"{calls.__name__}."):
    import_module(module.name)

Document = dict[str, Any]
Endpoint = tuple[str, str, str, Callable[..., Any]]

PING = {
    "get": {
        "operationId": "healthy",
        "summary": "Check the service",
        "description": "Needs no key.",
        "tags": ["Account"],
        "security": [],
        "responses": {
            "200": {
                "description": "The service is up.",
                "content": {"text/plain": {"schema": {"type": "string", "const": "healthy"}}},
            },
            "503": {
                "description": "The database does not answer.",
                "headers": {"Retry-After": {"$ref": "#/components/headers/Retry-After"}},
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
        },
    }
}
# Errors that are the same for every operation.
SHARED_STATUSES = ("400", "401", "403", "413", "415", "429", "500", "503")
HEADERS = {
    "Request-Id": {"description": "The ID of this request.", "schema": id_form("req"), "required": True},
    "Idempotent-Replayed": {
        "description": "Present if this answer is a replay.",
        "schema": {"type": "string", "const": "true"},
    },
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string", "pattern": "^[0-9]+$"}},
    "RateLimit": {
        "description": "How many requests are left (`r`), and for how many seconds (`t`).",
        "schema": {"type": "string"},
    },
    "RateLimit-Policy": {
        "description": "How many requests (`q`) are allowed in how many seconds (`w`).",
        "schema": {"type": "string"},
    },
    "WWW-Authenticate": {"description": "How to send a key.", "schema": {"type": "string"}},
}
_generating = Lock()


def document() -> bytes:
    """Return the document as JSON, which is the same for every caller and generated once."""
    # drf-spectacular fails in a thread that needs an extension while another thread loads it.
    with _generating:
        return _generated()


@cache
def _generated() -> bytes:
    return to_bytes(SchemaGenerator().get_schema(public=True))


def clean_paths(endpoints: list[Endpoint]) -> list[Endpoint]:
    """Return the paths as the contract writes them: only lists end in a slash, though all paths answer both ways."""
    return [(_clean(path, view), regex, method, view) for path, regex, method, view in endpoints]


def _clean(path: str, view: Callable[..., Any]) -> str:
    is_list = getattr(view, "initkwargs", {}).get("suffix") == "List"
    return path if is_list else path.rstrip("/")


def finish(result: Document, **_: Any) -> Document:
    """Add the parts that belong to no single operation: introduction, `/ping`, headers of answers, webhooks."""
    result["info"]["description"] = introduction(settings.PUBLIC_URL, settings.IDEMPOTENCY_KEEP_DAYS)
    shared: Document = {}
    for path in result["paths"].values():
        for method, operation in path.items():
            responses = sorted(operation["responses"].items())
            operation["responses"] = {
                status: _share(shared, status, _with_headers(method, status, response))
                for status, response in responses
            }
    result["paths"]["/ping"] = PING
    result["webhooks"] = webhooks(settings.NOTIFY_HEADER_PREFIX)
    result["x-kaha-test-cards"] = list(SCENARIOS)
    result["components"]["schemas"][metadata.VALUE] = metadata.VALUE_FORM
    add_links(result)
    _describe_defaults(result["components"]["schemas"])
    _share_choices(result["components"]["schemas"])
    result["components"] |= {"headers": HEADERS, "responses": dict(sorted(shared.items()))}
    return result


def _describe_defaults(schemas: Document) -> None:
    """Move the default of each member into its description, in place.

    Generators of clients read `default` differently: some take the member for one that must be sent, others send the
    default that there was when they ran. Without it, what a program leaves out is left to the service.
    """
    for schema in schemas.values():
        for member in schema.get("properties", {}).values():
            if "default" in member:
                default = member.pop("default")
                shown = default if isinstance(default, str) else to_bytes(default).decode()
                member["description"] += f" Default: `{shown}`."


def _share_choices(schemas: Document) -> None:
    """Have a session and the request for one refer to one schema for each choice that both have, in place.

    Generators of clients make a class of each list of values.
    """
    given, shown = schemas[SessionInput.__name__]["properties"], schemas[SESSION.name]["properties"]
    for name in [name for name in given if name in shown and "enum" in given[name]]:
        component = f"Session{name.title().replace('_', '')}"
        reference = {"$ref": f"#/components/schemas/{component}"}
        schemas[component] = {key: shown[name][key] for key in ("type", "enum", "description")}
        shown[name] = {**reference, "description": shown[name]["description"]}
        given[name] = _or_null({**reference, "description": given[name]["description"]})


def _share(shared: Document, status: str, response: Document) -> Document:
    """Return a reference to `response` if every operation shares it, so that the document stays small."""
    if status not in SHARED_STATUSES or shared.setdefault(f"Error{status}", response) != response:
        return response
    return {"$ref": f"#/components/responses/Error{status}"}


def _with_headers(method: str, status: str, response: Document) -> Document:
    return response | {"headers": {name: {"$ref": f"#/components/headers/{name}"} for name in _headers(method, status)}}


def _headers(method: str, status: str) -> list[str]:
    names = ["Request-Id", "RateLimit", "RateLimit-Policy"]
    if method == "post" and status in ("200", "201", "409"):
        names.append("Idempotent-Replayed")
    if status in ("409", "429", "503"):
        names.append("Retry-After")
    if status == "401":
        names.append("WWW-Authenticate")
    return names


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


class ObjectForm(OpenApiSerializerExtension):
    """An object of answers, by its declaration."""

    target_class = "payments.rendering.objects.api_object.ApiObject"

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        return str(self.target.name)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> Schema:
        members: dict[str, Member] = {}
        for name, member in self.target.members.items():
            members |= NAMED[str(member.form)].members if member.inlined else {name: member}
        return build_object_type(
            properties={name: _form(auto_schema, member) for name, member in members.items()},
            required=[name for name, member in members.items() if member.required],
            description=self.target.text,
        )


def _form(auto_schema: AutoSchema, member: Member) -> Schema:
    form: Any = NAMED[member.form] if isinstance(member.form, str) else member.form
    if not isinstance(form, dict):
        form = auto_schema.resolve_serializer(form, "response").ref
    form = build_array_type(form) if member.many else form
    return append_meta(form, {"description": member.text} | ({"nullable": True} if member.nullable else {}))


class StrictFieldForm(OpenApiSerializerFieldExtension):
    target_class = "payments.api.validation.fields.StrictField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> Schema:
        form, one = dict(self.target.schema()), getattr(self.target, "one", None)
        if isinstance(one, StrictSerializer):
            form["items"] = auto_schema.resolve_serializer(one, "request").ref
        return form


class StrictObjectForm(OpenApiSerializerExtension):
    """A request object: closed, with the members that are ignored and the rules between members."""

    target_class = "payments.api.validation.strict.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> Schema:
        ignored = {name: {"description": "Accepted and ignored."} for name in sorted(self.target.ignored)}
        # A list's filters arrive as text.
        may_be_null = [] if isinstance(self.target, PageQuery) else list(self.target.fields.items())
        members = {name: _member(auto_schema, field) for name, field in self.target.fields.items()}
        members |= {name: _or_null(members[name]) for name, field in may_be_null if not field.required}
        required = [name for name, field in self.target.fields.items() if field.required]
        form = build_object_type(required=required, description=get_doc(type(self.target)))
        return form | {"properties": members | ignored, "additionalProperties": False, **self.target.rules}


def _member(auto_schema: AutoSchema, field: Any) -> Schema:
    if isinstance(field, StrictSerializer):
        form = auto_schema.resolve_serializer(field, "request").ref
    else:
        form = StrictFieldForm(field).map_serializer_field(auto_schema, "request")
    default = {} if field.default is empty or callable(field.default) else {"default": field.default}
    return form | ({"description": field.help_text} if field.help_text else {}) | default


def _or_null(member: Schema) -> Schema:
    """Return the form of an optional member, for which `null` is the same as leaving it out."""
    if "$ref" in member:
        return {"anyOf": [{"$ref": member["$ref"]}, {"type": "null"}], "description": member["description"]}
    choices = {"enum": [*member["enum"], None]} if "enum" in member else {}
    return member | {"type": [member["type"], "null"]} | choices
