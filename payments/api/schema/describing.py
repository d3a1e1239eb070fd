"""Descriptions of calls for the document, with everything that all calls share: errors, keys, examples."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from payments.api.fields import Schema
from payments.api.requests import KEY_MAX
from payments.api.schema import errors
from payments.api.schema.errors import Refusal, Told, error_responses
from payments.api.schema.members import SerializerClass, id_form
from payments.api.strict import StrictSerializer

Operation = Callable[[Any], Any]
Example = dict[str, Any]

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": KEY_MAX, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    OpenApiParameter.HEADER,
    description="Makes it safe to send this request again: the first answer comes back, and nothing is done twice.",
)
OF_BODIES = (errors.BAD_BODY, errors.TOO_LARGE, errors.BAD_TYPE)


def id_in_path(prefix: str, what: str, name: str = "id") -> OpenApiParameter:
    """The ID of an object in the path."""
    return OpenApiParameter(name, id_form(prefix), OpenApiParameter.PATH, description=f"The ID of the {what}.")


def reading(
    operation_id: str,
    summary: str,
    description: str,
    answer: SerializerClass | Schema,
    example: Example,
    *,
    tag: str,
    at: Sequence[OpenApiParameter] = (),
    query: type[StrictSerializer] | None = None,
    open_to_browsers: bool = False,
) -> Operation:
    """A GET: `at` are its path parameters; with `query` it is a list. `open_to_browsers`: a publishable key will do."""
    invalid: Told = (errors.INVALID, ["unknown_parameter", *(["invalid_choice", "too_big"] if query else [])])
    refusals = [*_told(_always(bool(at), open_to_browsers)), invalid]
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        tags=[tag],
        parameters=[*at, *([query] if query else [])],
        request=None,
        responses={200: OpenApiResponse(answer, "As asked.")} | error_responses(refusals),
        examples=[OpenApiExample("Answer", example, response_only=True, status_codes=["200"])],
    )


def writing(
    operation_id: str,
    summary: str,
    description: str,
    body: type[StrictSerializer],
    answer: SerializerClass,
    *,
    tag: str,
    sent: dict[str, Example] | None = None,
    answered: dict[str, Example],
    status: int = 200,
    at: Sequence[OpenApiParameter] = (),
    conflicts: Sequence[str] = ("resource_busy",),
    invalid: Sequence[str] = ("missing", "unknown_parameter", "invalid_type"),
    may_miss: bool = False,
    may_be_unavailable: bool = False,
    handles_cards: bool = False,
    idempotent: bool = True,
    open_to_browsers: bool = False,
) -> Operation:
    """A POST, PUT or DELETE: `sent` and `answered` are examples by name, `conflicts` and `invalid` its 409s and 422s.

    `may_miss`: what the body names may not be there. `handles_cards`: it seals or opens card data. `idempotent`: it
    takes an idempotency key, as all POSTs do.
    """
    always = _always(bool(at) or may_miss, open_to_browsers)
    sometimes = [
        *([errors.KEY_CONFLICT] if idempotent else []),
        *([errors.UNAVAILABLE] if may_be_unavailable else []),
        *([errors.SEALED_OFF] if handles_cards else []),
    ]
    refusals: list[Told] = [(errors.CONFLICT, conflicts)] if conflicts else []
    refusals += [*_told([*always, *OF_BODIES, *sometimes]), (errors.INVALID, invalid)]
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        tags=[tag],
        parameters=[*at, *([IDEMPOTENCY_KEY] if idempotent else [])],
        request=body,
        responses={status: OpenApiResponse(answer, "Done.")} | error_responses(refusals),
        examples=[*_examples(sent or {}), *_examples(answered, status)],
    )


def _always(may_miss: bool, open_to_browsers: bool) -> list[Refusal]:
    return [
        errors.NO_KEY,
        *([] if open_to_browsers else [errors.NOT_PUBLISHABLE]),
        errors.NO_RIGHT,
        errors.IN_CLEAR_TEXT,
        *([errors.MISSING] if may_miss else []),
        errors.TOO_MANY,
        errors.INTERNAL,
        errors.OVERLOADED,
    ]


def _told(refusals: Iterable[Refusal]) -> list[Told]:
    return [(refusal, list(refusal.codes)) for refusal in refusals]


def _examples(named: dict[str, Example], status: int | None = None) -> list[OpenApiExample]:
    if status is None:
        return [OpenApiExample(name, value, request_only=True) for name, value in named.items()]
    codes = [str(status)]
    return [OpenApiExample(name, value, response_only=True, status_codes=codes) for name, value in named.items()]
