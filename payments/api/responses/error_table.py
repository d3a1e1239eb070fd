"""The errors of the API: each with its status, type, codes and words once. Answers and reference read this table.

It imports no models: requests are refused before these are loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from payments.domain.shared.errors import ErrorKind


@dataclass(frozen=True)
class Refusal:
    """One kind of error: HTTP status and type, its reason, and its codes, each with its message or an example of it.

    `examples` is the number of codes that an operation shows as whole examples.
    """

    status: int
    type: str
    when: str
    codes: dict[str, str]
    examples: int = 1


# Those that the reference lists, in its order.
REFUSALS: list[Refusal] = []


def _refusal(status: int, kind: str, when: str, codes: dict[str, str], examples: int = 1) -> Refusal:
    """Return a refusal that the reference lists."""
    REFUSALS.append(Refusal(status, kind, when, codes, examples))
    return REFUSALS[-1]


BAD_BODY = _refusal(
    400,
    "invalid_request_error",
    "The body is not one JSON object in UTF-8, or repeats a member.",
    {"invalid_json": "The body is not valid JSON (line 1, column 20)."},
)
BAD_HOST = _refusal(
    400,
    "invalid_request_error",
    "The host name of the request is not one of the service's.",
    {"host_not_allowed": "'pay.internal' is not a host name of this service. To allow it, add it to ALLOWED_HOSTS."},
)
NO_KEY = _refusal(
    401,
    "authentication_error",
    "There is no key, or it does not work.",
    {
        "key_missing": "A key is needed: send it as the user name of HTTP Basic, or as a Bearer token.",
        "key_invalid": "This API key is not valid.",
        "key_revoked": "This API key was revoked or has expired.",
    },
)
NOT_PUBLISHABLE = _refusal(
    403,
    "permission_error",
    "A publishable key may only make and read sources.",
    {"secret_key_required": "Only a secret key may do this."},  # nosec B105 # a code and its message
)
BAD_ORIGIN = _refusal(
    403,
    "permission_error",
    "The page's origin is not one of the publishable key's.",
    {
        "origin_not_allowed": "This page's origin may not use this key. Add it to the key's allowed origins in the "
        "back office."
    },
)
NO_RIGHT = _refusal(
    403,
    "permission_error",
    "A restricted key was not given the right that this takes; the message names it.",
    {"right_missing": "This key lacks the right charges:write."},
)
NO_HTTPS = _refusal(
    403,
    "permission_error",
    "The request came over http instead of https.",
    {"https_required": "Use https. If the request had a key, it was sent in clear text: roll it."},
)
MISSING = _refusal(
    404,
    "not_found_error",
    "There is no such object, or it is another merchant's, or of the other mode.",
    {"resource_missing": "No such charge."},
)
BAD_METHOD = _refusal(
    405,
    "invalid_request_error",
    "The path does not answer this method; `Allow` names those it does.",
    {"method_not_allowed": "This path does not answer that method. It answers GET, HEAD."},
)
CONFLICT = _refusal(
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
KEY_CONFLICT = _refusal(
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
REQUEST_TIMEOUT = _refusal(
    408,
    "invalid_request_error",
    "The body took too long, and nothing was done.",
    {"request_timeout": "The body did not arrive within 10 seconds, and nothing was done. Send it again."},
)
TOO_LARGE = _refusal(
    413,
    "invalid_request_error",
    "The body is longer than 64 KiB, or 3 MiB where it may hold a file.",
    {"body_too_large": "The body must be no longer than 65536 bytes."},
)
BAD_TYPE = _refusal(
    415,
    "invalid_request_error",
    "The body is not sent as `application/json` in UTF-8, or is compressed.",
    {"unsupported_media_type": "The body must be JSON in UTF-8, sent with Content-Type: application/json."},
)
INVALID = _refusal(
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
CHECKOUT_MISSING = _refusal(404, "not_found", MISSING.when, {"resource_missing": "No such checkout session."})
NOT_AVAILABLE = _refusal(
    422,
    "invalid_request_error",
    "No provider of this account can take this by any of the ways to pay.",
    {"not_available": "line_items: No provider takes this total by these ways to pay."},
)
TOO_MANY = _refusal(
    429,
    "rate_limit_error",
    "Too many requests, or too many declined cards; `Retry-After` says how many seconds to wait.",
    {"rate_limited": "Too many requests. Try again in 1 s."},
)
INTERNAL = _refusal(
    500,
    "api_error",
    "Something failed in kaha, and no money was moved.",
    {"internal_error": "Something went wrong on our side. The request ID leads us to it."},
)
OVERLOADED = _refusal(
    503,
    "api_error",
    "Too many requests of the merchant are running, or kaha's database does not answer, and no money was moved; "
    "`Retry-After` says how many seconds to wait.",
    {"internal_error": "Our database cannot be reached at the moment, and no money was moved. Try again in a moment."},
)
UNAVAILABLE = _refusal(
    503,
    "api_error",
    "The provider could not be reached, or too many requests wait for it, and nothing was done.",
    {"provider_unavailable": "The provider could not be reached and nothing was done. Try again in a moment."},
)
VAULT_UNAVAILABLE = _refusal(
    503,
    "api_error",
    "Card data cannot be encrypted or decrypted at the moment, and nothing was done.",
    {
        "vault_unavailable": "Card data cannot be encrypted or decrypted at the moment, and nothing was done. "
        "Try again in a moment."
    },
)
SERVER_BUSY = _refusal(
    503,
    "api_error",
    "The server is overloaded, and nothing was done.",
    {"server_busy": "The server is busy, and nothing was done. Try again in a moment."},
)
# The refusal by which each one of the domain is answered.
OF_DOMAIN: Mapping[ErrorKind, Refusal] = {
    ErrorKind.NOT_FOUND: MISSING,
    ErrorKind.CONFLICT: CONFLICT,
    ErrorKind.KEY_CONFLICT: KEY_CONFLICT,
    ErrorKind.INVALID: INVALID,
    ErrorKind.FORBIDDEN: NO_RIGHT,
    ErrorKind.RATE_LIMITED: TOO_MANY,
    ErrorKind.UNAVAILABLE: UNAVAILABLE,
}
