"""The errors of the API in the OpenAPI document: the envelope, and those of an operation (contract, section 4)."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from payments.domain.catalogue.error_table import INVALID, REFUSALS, Refusal
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.events import REQUEST_ID

FAULT = ApiObject(
    "Fault",
    "One fault of a request.",
    loc=Member({"type": "array", "items": {"type": "string"}}, 'Where, such as `["body", "card", "number"]`.'),
    msg=member.text("What is wrong."),
    type=member.text("The kind of fault, for programs."),
)
ERROR_DETAILS = ApiObject(
    "ErrorDetails",
    "Details of the error.",
    type=member.choice(dict.fromkeys(refusal.type for refusal in REFUSALS), "The type of error."),
    code=member.text("The error, for programs."),
    message=member.text("The error, for people. It never repeats a card number, security code or key."),
    param=member.text("The first member at fault, by its dotted name.", required=False),
    errors=Member(
        {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        "Every fault, by the member's dotted name.",
        required=False,
    ),
    charge_id=member.id_of("ch", "The charge that a 409 is about.", required=False),
    doc_url=member.web_address("Where errors are explained."),
    request_id=member.id_of("req", "The ID of this request, which the service's logs know."),
)
# A member of the same name as its object would not pass the type checks of generated clients.
ERROR = ApiObject(
    "ErrorEnvelope",
    "The envelope of every error.",
    error=Member(ERROR_DETAILS, "Details of the error."),
    message=member.text("On paths of checkouts: the message of the error once more.", required=False),
    detail=Member(FAULT, "With bad members: every fault at once.", many=True, required=False),
)

# A refusal with those of its codes that an operation can answer with.
PossibleRefusal = tuple[Refusal, Sequence[str]]


def error_responses(refusals: Iterable[PossibleRefusal]) -> dict[int, OpenApiResponse]:
    """Return the error responses of an operation by status, each with its possible codes."""
    by_status: dict[int, list[PossibleRefusal]] = {}
    for refusal, codes in refusals:
        by_status.setdefault(refusal.status, []).append((refusal, codes))
    return {status: _response(possible) for status, possible in by_status.items()}


def _response(possible: list[PossibleRefusal]) -> OpenApiResponse:
    described = [f"{refusal.when} Codes: {', '.join(f'`{code}`' for code in codes)}." for refusal, codes in possible]
    examples = [_example(refusal, code) for refusal, codes in possible for code in codes[: refusal.examples]]
    return OpenApiResponse(ERROR, " ".join(described), examples)


def _example(refusal: Refusal, code: str) -> OpenApiExample:
    error: dict[str, Any] = {"type": refusal.type, "code": code, "message": refusal.codes[code]}
    envelope: dict[str, Any] = {"error": error}
    if refusal.codes is INVALID.codes:
        param, _, message = refusal.codes[code].partition(": ")
        error |= {"param": param, "errors": {param: [message]}}
        envelope["detail"] = [{"loc": ["body", *param.split(".")], "msg": message, "type": code}]
    error["doc_url"] = f"{settings.PUBLIC_URL}/docs#errors"
    error["request_id"] = REQUEST_ID
    return OpenApiExample(code, envelope, response_only=True)
