"""The errors of the API: each with its status, type, codes and words once. Domain, answers and reference read this.

It imports no models: requests are refused before these are loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from payments.domain.catalogue.refusal_texts import Said, fill, said


@dataclass(frozen=True)
class Refusal:
    """One kind of error: HTTP status and type, its reason, and its codes, each with its message or an example of it.

    `examples` is the number of codes that an operation shows as whole examples.
    """

    status: int
    type: str
    when: str
    codes: dict[str, str]
    examples: int

    def code(self, name: str, words: str, **values: object) -> str:
        """Add a code and return it; `values` are an example of those that its words have places for."""
        self.codes[name] = fill(words, **values) if values else words
        return name

    def words(self, code: str, values: Mapping[str, object]) -> str:
        """Return the words of a code, with `values`."""
        words = self.codes[code]
        return fill(words.template, **values) if values and isinstance(words, Said) else words


# Those that the reference lists, in its order.
REFUSALS: list[Refusal] = []


def _refusal(status: int, when: str, kind: str = "", examples: int = 1) -> Refusal:
    """Return a refusal that the reference lists, of the type of its status."""
    REFUSALS.append(Refusal(status, kind or TYPES.get(status, "invalid_request_error"), when, {}, examples))
    return REFUSALS[-1]


# By status; all others are `invalid_request_error`.
TYPES = {
    **{401: "authentication_error", 403: "permission_error", 404: "not_found_error", 422: "validation_error"},
    **{429: "rate_limit_error", 500: "api_error", 503: "api_error"},
}
BAD_BODY = _refusal(400, "The body is not one JSON object in UTF-8, or repeats a member.")
BAD_BODY.code("invalid_json", "The body is not valid JSON (line 1, column 20).")
BAD_HOST = _refusal(400, "The host name of the request is not one of the service's.")
BAD_HOST.code(
    "host_not_allowed",
    "{host!r} is not a host name of this service. To allow it, add it to the setting ALLOWED_HOSTS.",
    host="pay.internal",
)
NO_KEY = _refusal(401, "There is no key, or it does not work.")
KEY_MISSING = NO_KEY.code(
    "key_missing", "A key is needed: send it as the user name of HTTP Basic, or as a Bearer token."
)
KEY_INVALID = NO_KEY.code("key_invalid", "This API key is not valid.")
KEY_REVOKED = NO_KEY.code("key_revoked", "This API key was revoked or has expired.")
NOT_PUBLISHABLE = _refusal(403, "A publishable key may only make and read sources.")
NOT_PUBLISHABLE.code("secret_key_required", "Only a secret key may do this.")
BAD_ORIGIN = _refusal(403, "The page's origin is not one of the publishable key's.")
BAD_ORIGIN.code(
    "origin_not_allowed",
    "This page's origin may not use this key. Add it to the key's allowed origins in the back office.",
)
NO_RIGHT = _refusal(403, "A restricted key was not given the right that this takes; the message names it.")
RIGHT_MISSING = NO_RIGHT.code("right_missing", "This key lacks the right {right}.", right="charges:write")
NO_HTTPS = _refusal(403, "The request came over http instead of https.")
NO_HTTPS.code("https_required", "Use https. If the request had a key, it was sent in clear text: roll it.")
NOT_FOUND = _refusal(404, "There is no such object, or it is another merchant's, or of the other mode.")
RESOURCE_MISSING = NOT_FOUND.code("resource_missing", "No such charge.")
BAD_METHOD = _refusal(405, "The path does not answer this method; `Allow` names those it does.")
BAD_METHOD.code("method_not_allowed", "This path does not answer that method. It answers GET, HEAD.")
CONFLICT = _refusal(
    409, "The state of the object does not allow this, or another operation on it is still running.", examples=3
)
SOURCE_ALREADY_USED = CONFLICT.code(
    "source_already_used", "This source has been used already. Create a new one for each charge."
)
SOURCE_EXPIRED = CONFLICT.code(
    "source_expired", "This source was not used within {days} days. Create a new one.", days=30
)
RETRY_NOT_ALLOWED = CONFLICT.code(
    "retry_not_allowed",
    "The card's bank never approves this card, and charges for each try. Until {day} ask for another.",
    day="2026-12-21",
)
REFERENCE_MISSING = CONFLICT.code(
    "reference_missing",
    "This card was imported without its network's reference: charge it first with its payer, `initiator` `customer`.",
)
CHARGE_NOT_CAPTURABLE = CONFLICT.code("charge_not_capturable", "Only a held charge can be captured.")
CHARGE_NOT_VOIDABLE = CONFLICT.code(
    "charge_not_voidable", "Only a held charge, or a captured one that is not settled yet, can be voided."
)
CHARGE_NOT_REFUNDABLE = CONFLICT.code(
    "charge_not_refundable", "Only a captured charge with money left can be refunded."
)
CHARGE_NOT_VERIFIABLE = CONFLICT.code("charge_not_verifiable", "This charge does not wait for a one-time PIN.")
AMOUNT_TOO_LARGE = CONFLICT.code("amount_too_large", "The amount is more than is left.")
TOO_MANY_REFUNDS = CONFLICT.code(
    "too_many_refunds",
    "This charge has {count} refunds, failed ones included, which is the most that there can be.",
    count=100,
)
TOO_MANY_SOURCES = CONFLICT.code(
    "too_many_sources",
    "This customer has {count} sources, which is the most that are kept. Detach one that is not used.",
    count=100,
)
TOO_MANY_WEBHOOK_ENDPOINTS = CONFLICT.code(
    "too_many_webhook_endpoints",
    said("This account has {count} endpoints in this mode, which is the most. Delete one first.", count=16),
)
DISPUTE_NOT_ANSWERABLE = CONFLICT.code("dispute_not_answerable", "The time to respond to this dispute is over.")
EVIDENCE_MISSING = CONFLICT.code(
    "evidence_missing",
    "This dispute has no evidence yet. Add some with POST /v2/disputes/{id}/evidence, and submit it then.",
)
EVIDENCE_LIMIT_REACHED = CONFLICT.code(
    "evidence_limit_reached",
    said("This account has sent {most} MiB of evidence in a day. Send smaller files, or the rest tomorrow.", most=200),
)
SESSION_BUSY = CONFLICT.code("session_busy", "The payer is paying this session. Try again when the outcome is known.")
SESSION_NOT_EXPIRABLE = CONFLICT.code(
    "session_not_expirable", said("This session is {state} and cannot expire any more.", state="paid")
)
SESSION_NOT_CAPTURABLE = CONFLICT.code("session_not_capturable", "Only an authorized session can be captured.")
REQUEST_BUSY = CONFLICT.code("request_busy", "The payer is paying this request. Try again when the outcome is known.")
REQUEST_NOT_VOIDABLE = CONFLICT.code(
    "request_not_voidable", said("This request is {state} and cannot be voided any more.", state="paid")
)
EVENT_NOT_POSSIBLE = CONFLICT.code("event_not_possible", "The bank has no payout. Move time until it has one.")
REQUEST_NOT_OPEN = CONFLICT.code(
    "request_not_open", said("This request is {state}. It needs no message any more.", state="paid")
)
LINK_NOT_ACTIVATABLE = CONFLICT.code(
    "link_not_activatable", "This link is sold out, at its maximum of payments or past its day. Change that first."
)
RESOURCE_BUSY = CONFLICT.code(
    "resource_busy", "Another operation on this charge has not ended yet. Try again in a moment."
)
KEY_CONFLICT = _refusal(
    409,
    "The idempotency key was used for another request, or the first request with it is still running.",
    kind="idempotency_error",
)
IDEMPOTENCY_KEY_REUSED = KEY_CONFLICT.code(
    "idempotency_key_reused",
    "This idempotency key was used for another request, {first} at {at}. Send that request as it was, or "
    "this one under a new key.",
    first="req_019aa3c5d1f27c3e9d0b5a8e4f6c2b1a",
    at="2026-11-21T01:43:00.123456Z",
)
IDEMPOTENCY_KEY_IN_USE = KEY_CONFLICT.code(
    "idempotency_key_in_use", "The first request with this idempotency key is still running."
)
REQUEST_TIMEOUT = _refusal(408, "The body took too long, and nothing was done.")
REQUEST_TIMEOUT.code(
    "request_timeout",
    "The body did not arrive within {seconds} seconds, and nothing was done. Send it again.",
    seconds=10,
)
TOO_LARGE = _refusal(413, "The body is longer than 64 KiB, or 3 MiB where it may hold a file.")
TOO_LARGE.code("body_too_large", "The body must be no longer than {limit} bytes.", limit=65536)
BAD_TYPE = _refusal(415, "The body is not sent as `application/json` in UTF-8, or is compressed.")
BAD_TYPE.code("unsupported_media_type", "The body must be JSON in UTF-8, sent with Content-Type: application/json.")
INVALID = _refusal(422, "A member is missing, unknown or wrong; `detail` lists every fault at once.")
INVALID.code("missing", "amount: This field is required.")
UNKNOWN_PARAMETER = INVALID.code("unknown_parameter", "captur: There is no such parameter. Did you mean capture?")
INVALID.code("invalid_type", "capture: This value must be true or false.")
TOO_SMALL = INVALID.code("too_small", "amount: This value must be at least 1.")
INVALID.code("too_big", "amount: This value must be at most 99999999999.")
INVALID.code("too_short", "statement_descriptor: This value must have at least 3 characters.")
INVALID.code("too_long", "description: This value must have at most 255 characters.")
INVALID.code("pattern", "cvc: This value must be digits only.")
INVALID_CHOICE = INVALID.code("invalid_choice", "currency: This value must be an ISO 4217 currency code.")
INVALID.code("luhn", "card.number: This is not a card number.")
NOT_ALLOWED = INVALID.code("not_allowed", "file: A piece of evidence is a text or a file, not both.")
INVALID.code("invalid_file", "file: This file must be a PDF, PNG or JPEG.")
INVALID.code("card_expired", "card.exp_year: This card has expired.")
INVALID.code(
    "card_data", "description: This value holds a card number or a security code, which may stand in a card only."
)
TOTAL_OUT_OF_RANGE = INVALID.code(
    "total_out_of_range", "line_items: The total must be 1 to 99999999999 of the smallest unit."
)
SOURCE_TYPE_UNAVAILABLE = INVALID.code("source_type_unavailable", "type: GCash is not available in this mode.")
# The same on the paths of checkouts, whose clients know other words.
CHECKOUT_INVALID = replace(INVALID, status=400, type="invalid_request_error")
CHECKOUT_NOT_FOUND = _refusal(404, NOT_FOUND.when, kind="not_found")
CHECKOUT_NOT_FOUND.code(RESOURCE_MISSING, "No such checkout session.")
NOT_TAKEN = _refusal(
    422, "No provider of this account can take this by any of the ways to pay.", kind="invalid_request_error"
)
NOT_AVAILABLE = NOT_TAKEN.code("not_available", "line_items: No provider takes this total by these ways to pay.")
TOO_MANY = _refusal(429, "Too many requests, or too many declined cards; `Retry-After` says how many seconds to wait.")
RATE_LIMITED = TOO_MANY.code("rate_limited", said("Too many requests. Try again in {seconds} s.", seconds=1))
INTERNAL = _refusal(500, "Something failed in kaha, and no money was moved.")
INTERNAL_ERROR = INTERNAL.code("internal_error", "Something went wrong on our side. The request ID leads us to it.")
OVERLOADED = _refusal(
    503,
    "Too many requests of the merchant are running, or kaha's database does not answer, and no money was moved; "
    "`Retry-After` says how many seconds to wait.",
)
OVERLOADED.code(
    INTERNAL_ERROR, "Our database cannot be reached at the moment, and no money was moved. Try again in a moment."
)
UNAVAILABLE = _refusal(
    503, "The provider could not be reached, or too many requests wait for it, and nothing was done."
)
PROVIDER_UNAVAILABLE = UNAVAILABLE.code(
    "provider_unavailable", "The provider could not be reached and nothing was done. Try again in a moment."
)
VAULT_UNAVAILABLE = _refusal(503, "Card data cannot be encrypted or decrypted at the moment, and nothing was done.")
VAULT_UNAVAILABLE.code(
    "vault_unavailable",
    "Card data cannot be encrypted or decrypted at the moment, and nothing was done. Try again in a moment.",
)
SERVER_BUSY = _refusal(503, "The server is overloaded, and nothing was done.")
SERVER_BUSY.code("server_busy", "The server is busy, and nothing was done. Try again in a moment.")
