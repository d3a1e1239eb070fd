"""Operations of the OpenAPI document, with what all of them share: errors, idempotency keys, examples, links."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from drf_spectacular.drainage import isolate_view_method
from drf_spectacular.extensions import OpenApiViewExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.fields import Field

from payments.api.access.idempotency_headers import LENGTH_MAX
from payments.api.schema.errors import PossibleRefusal, error_responses
from payments.api.schema.examples import page
from payments.api.schema.responses import page_of
from payments.api.validation.fields import Schema
from payments.api.validation.strict import Nothing, StrictSerializer
from payments.domain.catalogue import error_table as errors
from payments.domain.catalogue.error_table import RESOURCE_BUSY, Refusal
from payments.rendering.objects.api_object import ApiObject
from payments.rendering.objects.member import ID_DIGITS, id_form

# Describes a method, by the tag and the path parameters of its view.
Operation = Callable[[str, Sequence[OpenApiParameter]], Callable[[Any], Any]]
Example = dict[str, Any]
Document = dict[str, Any]

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": LENGTH_MAX, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    OpenApiParameter.HEADER,
    description="Makes it safe to send this request again: the first answer is replayed, and nothing is done twice.",
)
# The tag of sessions, links and requests, whose errors are others.
CHECKOUT = "Checkout"
# The expression of an answer's own ID.
OWN = "$response.body#/id"
# Members of bodies that name an object, with the pattern of its ID: their own forms take any text.
IN_BODIES = {"source": f"^src_{ID_DIGITS}$"}
OF_BODIES = (errors.BAD_BODY, errors.TOO_LARGE, errors.BAD_TYPE)


class DescribedView(OpenApiViewExtension):
    """A view with the `operations` of its methods, by name of the method.

    All are below its `tag`, and those of one object, which are all but `list` and `create`, have its path, `at`.
    """

    target_class: Any = ""
    tag: str
    at: Sequence[OpenApiParameter] = ()
    operations: dict[str, Operation] = {}

    def view_replacement(self) -> type[Any]:
        described = type(self.target_class.__name__, (self.target_class,), {})
        # `extend_schema_view` would do the same, but passes over methods that no router knows.
        for name, operation in self.operations.items():
            at = () if name in ("list", "create") else self.at
            operation(self.tag, at)(isolate_view_method(described, name))
        return described


def id_in_path(prefix: str, what: str, name: str = "id") -> OpenApiParameter:
    """Return the path parameter `name`, the ID of an object."""
    return OpenApiParameter(name, id_form(prefix), OpenApiParameter.PATH, description=f"The ID of the {what}.")


def reading(
    operation_id: str,
    summary: str,
    description: str,
    answer: ApiObject | Schema,
    example: Example | None = None,
    *,
    at: Sequence[OpenApiParameter] | None = None,
    query: type[StrictSerializer] | None = None,
    open_to_browsers: bool = False,
) -> Operation:
    """Return a GET: `at` are its path parameters where they are not the view's, `query` is for lists,
    `open_to_browsers` for publishable keys. The `example` is that of the answer, unless another is given.
    """
    faults = _faults_of(query or Nothing)
    shown = answer.example if example is None and isinstance(answer, ApiObject) else example

    def described(tag: str, of_view: Sequence[OpenApiParameter]) -> Any:
        path = of_view if at is None else at
        refusals = [*_with_all_codes(_always(bool(path), open_to_browsers)), (errors.INVALID, faults)]
        return extend_schema(
            operation_id=operation_id,
            summary=summary,
            description=description,
            tags=[tag],
            parameters=[*path, *([query] if query else [])],
            request=None,
            responses={200: OpenApiResponse(answer, "The object or list.")} | _refused(refusals, tag),
            examples=[OpenApiExample("Answer", shown, response_only=True, status_codes=["200"])],
        )

    return described


def listing(
    operation_id: str,
    summary: str,
    description: str,
    item: ApiObject,
    path: str,
    query: type[StrictSerializer],
    example: Example | None = None,
) -> Operation:
    """Return a GET of the list at `path`, whose example is a page with that of `item`, unless another is given."""
    return reading(operation_id, summary, description, page_of(item), page(path, example or item.example), query=query)


def writing(
    operation_id: str,
    summary: str,
    description: str,
    body: type[StrictSerializer],
    answer: ApiObject,
    *,
    sent: dict[str, Example] | None = None,
    answered: dict[str, Example],
    status: int = 200,
    at: Sequence[OpenApiParameter] | None = None,
    conflicts: Sequence[str] = (RESOURCE_BUSY,),
    invalid: Sequence[str] = (),
    may_miss: bool = False,
    may_be_unavailable: bool = False,
    may_not_be_taken: bool = False,
    handles_cards: bool = False,
    idempotent: bool = True,
    open_to_browsers: bool = False,
) -> Operation:
    """Return a POST, PUT or DELETE: `sent` and `answered` are examples by name, `conflicts` and `invalid` codes, of
    which the latter are those beside the rules of the body's members. `at` is as of `reading`.

    `may_miss`: the body names an object that may be missing. `may_not_be_taken`: it is an order, which perhaps no
    provider takes. `handles_cards`: it encrypts or decrypts card data. `idempotent`: it takes an idempotency key, as
    all POSTs do.
    """
    sometimes = [
        *([errors.KEY_CONFLICT] if idempotent else []),
        *([errors.UNAVAILABLE] if may_be_unavailable else []),
        *([errors.NOT_TAKEN] if may_not_be_taken else []),
        *([errors.VAULT_UNAVAILABLE] if handles_cards else []),
    ]
    faults = _faults_of(body, invalid)

    def described(tag: str, of_view: Sequence[OpenApiParameter]) -> Any:
        path = of_view if at is None else at
        always = _always(bool(path) or may_miss, open_to_browsers)
        refusals: list[PossibleRefusal] = [(errors.CONFLICT, conflicts)] if conflicts else []
        refusals += [*_with_all_codes([*always, *OF_BODIES, *sometimes]), (errors.INVALID, faults)]
        return extend_schema(
            operation_id=operation_id,
            summary=summary,
            description=description,
            tags=[tag],
            parameters=[*path, *([IDEMPOTENCY_KEY] if idempotent else [])],
            request=body,
            responses={status: OpenApiResponse(answer, "The object after the operation.")} | _refused(refusals, tag),
            examples=[*_examples(sent or {}), *_examples(answered, status)],
        )

    return described


def _faults_of(body: type[StrictSerializer], others: Collection[str] = ()) -> list[str]:
    """Return the codes of what a body may be refused for: by the rules of its members, and `others`."""
    # A body that is missing, or no object, is refused before.
    own = body().error_messages.keys() - {"missing", "invalid_type"}
    rules = own.union(others, *map(_rules_of, body().fields.values()))
    return [code for code in errors.INVALID.codes if code in rules]


def _rules_of(field: Field[Any, Any, Any, Any]) -> set[str]:
    members = [*getattr(field, "fields", {}).values(), getattr(field, "one", None)]
    own = set(field.error_messages) - ({"missing"} if not field.required else set())
    return own.union(*(_rules_of(member) for member in members if isinstance(member, Field)))


def _refused(refusals: Iterable[PossibleRefusal], tag: str) -> dict[int, OpenApiResponse]:
    other = {id(errors.INVALID): errors.CHECKOUT_INVALID, id(errors.NOT_FOUND): errors.CHECKOUT_NOT_FOUND}
    known = other if tag == CHECKOUT else {}
    return error_responses((known.get(id(refusal), refusal), codes) for refusal, codes in refusals)


def _always(may_miss: bool, open_to_browsers: bool) -> list[Refusal]:
    return [
        errors.BAD_HOST,
        errors.NO_KEY,
        errors.BAD_ORIGIN if open_to_browsers else errors.NOT_PUBLISHABLE,
        errors.NO_RIGHT,
        errors.NO_HTTPS,
        *([errors.NOT_FOUND] if may_miss else []),
        errors.TOO_MANY,
        errors.INTERNAL,
        errors.OVERLOADED,
    ]


def _with_all_codes(refusals: Iterable[Refusal]) -> list[PossibleRefusal]:
    return [(refusal, list(refusal.codes)) for refusal in refusals]


def _examples(named: dict[str, Example], status: int | None = None) -> list[OpenApiExample]:
    if status is None:
        return [OpenApiExample(name, value, request_only=True) for name, value in named.items()]
    codes = [str(status)]
    return [OpenApiExample(name, value, response_only=True, status_codes=codes) for name, value in named.items()]


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
