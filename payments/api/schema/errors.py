"""The errors of the API in the OpenAPI document: the envelope, and the reasons for each (contract, section 4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.events import REQUEST_ID


@dataclass(frozen=True)
class Refusal:
    """One kind of error: HTTP status and type, its reason, and its codes, each with an example of its message.

    `examples` is the number of codes that an operation shows as whole examples.
    """

    status: int
    type: str
    when: str
    codes: dict[str, str]
    examples: int = 1


BAD_BODY = Refusal(
    400,
    "invalid_request_error",
    "The body is not one JSON object in UTF-8, or repeats a member.",
    {"invalid_json": "The body is not valid JSON (line 1, column 20)."},
)
BAD_HOST = Refusal(
    400,
    "invalid_request_error",
    "The host name of the request is not one of the service's.",
    {"host_not_allowed": "'pay.internal' is not a host name of this service. To allow it, add it to ALLOWED_HOSTS."},
)
NO_KEY = Refusal(
    401,
    "authentication_error",
    "There is no key, or it does not work.",
    {
        "key_missing": "A key is needed: send it as the user name of HTTP Basic, or as a Bearer token.",
        "key_invalid": "This API key is not valid.",
        "key_revoked": "This API key was revoked or has expired.",
    },
)
NOT_PUBLISHABLE = Refusal(
    403,
    "permission_error",
    "A publishable key may only make and read sources.",
    {"secret_key_required": "Only a secret key may do this."},  # nosec B105 # a code and its message
)
BAD_ORIGIN = Refusal(
    403,
    "permission_error",
    "The page's origin is not one of the publishable key's.",
    {"origin_not_allowed": "This page's origin may not use this key. Add it to the key's allowed origins."},
)
NO_RIGHT = Refusal(
    403,
    "permission_error",
    "A restricted key was not given the right that this takes; the message names it.",
    {"right_missing": "This key lacks the right charges:write."},
)
NO_HTTPS = Refusal(
    403,
    "permission_error",
    "The request came over http instead of https.",
    {"https_required": "Use https. If the request had a key, it was sent in clear text: roll it."},
)
MISSING = Refusal(
    404,
    "not_found_error",
    "There is no such object, or it is another merchant's, or of the other mode.",
    {"resource_missing": "No such charge."},
)
BAD_METHOD = Refusal(
    405,
    "invalid_request_error",
    "The path does not answer this method; `Allow` names those it does.",
    {"method_not_allowed": "This path does not answer that method. It answers GET, HEAD."},
)
CONFLICT = Refusal(
    409,
    "invalid_request_error",
    "The state of the object does not allow this, or another operation on it is still running.",
    {
        "source_already_used": "This source has been used already. Create a new one for each charge.",
        "source_expired": "This source was not used within 30 days. Create a new one.",
        "retry_not_allowed": "The card's bank never approves this card, and charges for each try. Until 2026-12-21 ask "
        "for another.",
        "charge_not_capturable": "Only a held charge can be captured.",
        "charge_not_voidable": "Only a held charge, or one that is not settled yet, can be voided.",
        "charge_not_refundable": "Only a captured charge can be refunded.",
        "charge_not_verifiable": "This charge does not wait for a one-time PIN.",
        "amount_too_large": "The amount is more than is left.",
        "too_many_refunds": "This charge has 100 refunds, failed ones included, which is the most that there can be.",
        "too_many_sources": "This customer has 100 sources, which is the most that are kept. Detach one that is not "
        "used.",
        "too_many_webhook_endpoints": "This account has 16 endpoints in this mode, which is the most. Delete "
        "one first.",
        "dispute_not_answerable": "The time to respond to this dispute is over.",
        "evidence_missing": "This dispute has no evidence yet. Add some, and submit it then.",
        "evidence_limit_reached": "This account has sent 200 MiB of evidence in a day. Send smaller files, or the rest "
        "tomorrow.",
        "session_busy": "The payer is paying this session. Try again when the outcome is known.",
        "session_not_expirable": "This session is paid and cannot expire any more.",
        "session_not_capturable": "Only an authorized session can be captured.",
        "request_busy": "The payer is paying this request. Try again when the outcome is known.",
        "request_not_voidable": "This request is paid and cannot be voided any more.",
        "event_not_possible": "The bank has no payout. Move time until it has one.",
        "request_not_open": "This request is paid. It needs no message any more.",
        "link_not_activatable": "This link is sold out, at its maximum of payments or past its day. Change that first.",
        "resource_busy": "Another operation on this charge has not ended yet. Try again in a moment.",
    },
    examples=3,
)
KEY_CONFLICT = Refusal(
    409,
    "idempotency_error",
    "The idempotency key was used for another request, or the first request with it is still running.",
    {
        "idempotency_key_reused": "This idempotency key was used for another request, "
        "req_019aa3c5d1f27c3e9d0b5a8e4f6c2b1a at 2026-11-21T01:43:00.123456Z. Send that request as it was, or this one "
        "under a new key.",
        "idempotency_key_in_use": "The first request with this idempotency key is still running.",
    },
)
REQUEST_TIMEOUT = Refusal(
    408,
    "invalid_request_error",
    "The body took too long, and nothing was done.",
    {"request_timeout": "The body did not arrive within 10 seconds, and nothing was done. Send it again."},
)
TOO_LARGE = Refusal(
    413,
    "invalid_request_error",
    "The body is longer than 64 KiB, or 3 MiB where it may hold a file.",
    {"body_too_large": "The body must be no longer than 65536 bytes."},
)
BAD_TYPE = Refusal(
    415,
    "invalid_request_error",
    "The body is not sent as `application/json` in UTF-8, or is compressed.",
    {"unsupported_media_type": "The body must be JSON in UTF-8, sent with Content-Type: application/json."},
)
INVALID = Refusal(
    422,
    "validation_error",
    "A member is missing, unknown or wrong; `detail` lists every fault at once.",
    {
        "missing": "amount: This field is required.",
        "unknown_parameter": "captur: There is no such parameter. Did you mean capture?",
        "invalid_type": "capture: This value must be true or false.",
        "too_small": "amount: This value must be at least 1.",
        "too_big": "amount: This value must be at most 99999999999.",
        "too_short": "statement_descriptor: This value must have at least 3 characters.",
        "too_long": "description: This value must have at most 255 characters.",
        "pattern": "cvc: This value must be digits only.",
        "invalid_choice": "currency: This value must be an ISO 4217 currency code.",
        "luhn": "card.number: This is not a card number.",
        "not_allowed": "file: A piece of evidence is a text or a file, not both.",
        "invalid_file": "file: This file must be a PDF, PNG or JPEG.",
        "card_expired": "card.exp_year: This card has expired.",
        "card_data": "description: This value holds a card number or a security code, which may stand in a card only.",
        "total_out_of_range": "line_items: The total must be 1 to 99999999999 of the smallest unit.",
        "source_type_unavailable": "type: GCash is not available in this mode.",
    },
)
# The same on the paths of checkouts, whose clients know other words.
CHECKOUT_INVALID = replace(INVALID, status=400, type="invalid_request_error")
CHECKOUT_MISSING = replace(MISSING, type="not_found", codes={"resource_missing": "No such checkout session."})
NOT_AVAILABLE = Refusal(
    422,
    "invalid_request_error",
    "No provider of this account can take this by any of the ways to pay.",
    {"not_available": "line_items: No provider takes this total by these ways to pay."},
)
TOO_MANY = Refusal(
    429,
    "rate_limit_error",
    "Too many requests, or too many declined cards; `Retry-After` says how many seconds to wait.",
    {"rate_limited": "Too many requests. Try again in 1 s."},
)
INTERNAL = Refusal(
    500,
    "api_error",
    "Something failed in kaha, and no money was moved.",
    {"internal_error": "Something went wrong on our side. The request ID leads us to it."},
)
OVERLOADED = Refusal(
    503,
    "api_error",
    "Too many requests of the merchant are running, or kaha's database does not answer, and no money was moved; "
    "`Retry-After` says how many seconds to wait.",
    {"internal_error": "Our database cannot be reached at the moment, and no money was moved. Try again in a moment."},
)
UNAVAILABLE = Refusal(
    503,
    "api_error",
    "The provider could not be reached, or too many requests wait for it, and nothing was done.",
    {"provider_unavailable": "The provider could not be reached and nothing was done. Try again in a moment."},
)
VAULT_UNAVAILABLE = Refusal(
    503,
    "api_error",
    "Card data cannot be encrypted or decrypted at the moment, and nothing was done.",
    {
        "vault_unavailable": "Card data cannot be encrypted or decrypted at the moment, and nothing was done. "
        "Try again in a moment."
    },
)
SERVER_BUSY = Refusal(
    503,
    "api_error",
    "The server is overloaded, and nothing was done.",
    {"server_busy": "The server is busy, and nothing was done. Try again in a moment."},
)
REFUSALS = (
    BAD_BODY,
    BAD_HOST,
    NO_KEY,
    NOT_PUBLISHABLE,
    NO_RIGHT,
    NO_HTTPS,
    MISSING,
    BAD_METHOD,
    CONFLICT,
    KEY_CONFLICT,
    REQUEST_TIMEOUT,
    TOO_LARGE,
    BAD_TYPE,
    INVALID,
    CHECKOUT_MISSING,
    NOT_AVAILABLE,
    TOO_MANY,
    INTERNAL,
    OVERLOADED,
    UNAVAILABLE,
    VAULT_UNAVAILABLE,
    SERVER_BUSY,
)

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
