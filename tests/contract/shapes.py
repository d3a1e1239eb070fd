"""The objects of the interface as JSON Schemas: every member that is required, every one that may be there, no other.

Written from the reference alone, so that they hold the code to it.
"""

from typing import Any

from jsonschema import Draft202012Validator

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
OR_NULL: Schema = {"type": ["string", "null"]}
FLAG: Schema = {"type": "boolean"}
AMOUNT: Schema = {"type": "integer", "minimum": 0}
FREE: Schema = {"type": "object"}
MOMENT: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"}


def one_of(*values: str | None) -> Schema:
    return {"enum": list(values)}


def id_of(prefix: str) -> Schema:
    """Return a prefix and the 32 lower-case hex digits of a UUIDv7 (RFC 9562)."""
    return {"type": "string", "pattern": f"^{prefix}_[0-9a-f]{{12}}7[0-9a-f]{{3}}[89ab][0-9a-f]{{15}}$"}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def shape(required: dict[str, Schema], **optional: Schema) -> Schema:
    """Return an object with these members and no others."""
    properties = required | optional
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def page_of(items: Schema) -> Schema:
    return shape({"object": one_of("list"), "data": list_of(items)}, next=TEXT)


CARD_BRANDS = ("visa", "mastercard", "jcb", "amex", "unionpay", "unknown")
SOURCE_TYPES = (
    *("card", "gcash", "maya", "paymaya", "grabpay", "alipay", "wechat", "unionpay"),
    *("qrph", "instapay", "pesonet", "bpi", "bdo", "unionbank", "rcbc"),
)
STATUSES = ("pending", "succeeded", "failed", "voided", "refunded")
FAILURE_CODES = (
    *("card_declined", "insufficient_funds", "lost_card", "stolen_card", "expired_card", "incorrect_cvc"),
    *("processing_error", "authentication_required", "authentication_failed", "payer_cancelled"),
    *("action_expired", "provider_unavailable"),
)
CARD = shape(
    {
        "object": one_of("card"),
        "id": id_of("card"),
        "name": TEXT,
        "last4": {"type": "string", "pattern": "^[0-9]{4}$"},
        "exp_month": {"type": "string", "pattern": "^[0-9]{1,2}$"},
        "exp_year": {"type": "string", "pattern": "^[0-9]{4}$"},
        "brand": one_of(*CARD_BRANDS),
        "country": {"type": "string", "pattern": "^([A-Z]{2}|unknown)$"},
        "cvc_checked": one_of("pass", "fail", "unavailable", "unchecked"),
        "checked": FLAG,
        "funding": one_of("credit", "debit", "prepaid", "unknown"),
        "issuing_bank": {"type": "string", "minLength": 1},
    },
    **{f"address_{part}": TEXT for part in ("line1", "line2", "city", "state", "country", "zip")},
)
BANK_ACCOUNT = shape(
    dict.fromkeys(
        (
            *("reference_id", "bank_type", "bank_code", "account_name"),
            *("account_number", "account_type", "expires_at"),
        ),
        TEXT,
    ),
    metadata=FREE,
)
REDIRECT = shape({"success": TEXT, "fail": TEXT}, notify=TEXT)
ADDRESS = shape(
    {"name": TEXT},
    **dict.fromkeys(("phone_number", "email", "line1", "line2", "city", "state", "country", "zip_code"), TEXT),
)
OWNER = shape({}, billing=ADDRESS, shipping=ADDRESS, name=TEXT, address_country=TEXT)

_SOURCE: dict[str, Schema] = {
    "object": one_of("source"),
    "id": id_of("src"),
    "type": one_of(*SOURCE_TYPES),
    "vaulted": FLAG,
    "used": FLAG,
    "livemode": FLAG,
    "created_at": MOMENT,
    "updated_at": MOMENT,
    "metadata": FREE,
}
_SOURCE_OPTIONAL = {"card": CARD, "bank_account": BANK_ACCOUNT, "redirect": REDIRECT, "owner": OWNER}
SOURCE = shape(_SOURCE, **_SOURCE_OPTIONAL)
CHARGED_SOURCE = shape(_SOURCE | {"require_auth": FLAG}, **_SOURCE_OPTIONAL)

REFUND = shape(
    {
        "object": one_of("refund"),
        "id": id_of("re"),
        "amount": {"type": "integer", "minimum": 1},
        "charge": id_of("ch"),
        "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "reason": TEXT,
        "status": one_of("pending", "succeeded", "failed"),
        "created_at": MOMENT,
    },
    updated_at=MOMENT,
    livemode=FLAG,
)
URL: Schema = {"type": "string", "pattern": "^https?://"}
ACTION: Schema = {
    "oneOf": [
        shape({"type": one_of("redirect_to_url"), "url": URL}),
        shape({"type": one_of("verify_otp"), "confirmation_id": {"type": "string", "minLength": 5}, "url": URL}),
    ]
}
FAILURE = shape(
    {
        "code": one_of(*FAILURE_CODES),
        "reason": TEXT,
        "next_steps": TEXT,
        "retry": one_of("never", "later", "new_card", "authenticate"),
        "provider_response": shape({"code": TEXT, "message": TEXT, "logref": TEXT, "links": {"const": []}}),
    }
)
CHARGE = shape(
    {
        "object": one_of("charge"),
        "id": id_of("ch"),
        "amount": {"type": "integer", "minimum": 1},
        "amount_captured": AMOUNT,
        "amount_refunded": AMOUNT,
        "authorized": FLAG,
        "captured": FLAG,
        "disputed": FLAG,
        "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "statement_descriptor": TEXT,
        "description": TEXT,
        "source": CHARGED_SOURCE,
        "require_auth": FLAG,
        "refunds": list_of(REFUND),
        "status": one_of(*STATUSES),
        "livemode": FLAG,
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "metadata": FREE,
    },
    owner=OWNER,
    action=ACTION,
    failure_data=FAILURE,
)
CUSTOMER = shape(
    {
        "object": one_of("customer"),
        "id": id_of("cus"),
        "email": TEXT,
        "description": TEXT,
        "sources": list_of(SOURCE),
        "livemode": FLAG,
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "mobile_number": OR_NULL,
        "metadata": FREE,
    }
)
DELETED = shape({"id": id_of("cus"), "object": one_of("customer"), "deleted": {"const": True}})
EVENT = shape(
    {
        "id": id_of("evt"),
        "object": one_of("event"),
        "type": {"type": "string", "pattern": "^[a-z_]+[.][a-z]+$"},
        "created": {"type": "integer"},
        "created_at": MOMENT,
        "livemode": FLAG,
        "data": shape({"object": FREE}),
        "request": shape({"idempotency_key": OR_NULL}, id=id_of("req")),
        "sequence": {"type": "integer", "minimum": 1},
    }
)
RATE: dict[str, Schema] = {"mdr": {"type": "number", "minimum": 0, "maximum": 100}, "fixed_fee": AMOUNT}
APPROVAL = one_of("approved", "pending", "rejected")
PAYMENT_METHOD = shape(
    {
        "mid": OR_NULL,
        "gateway": {"oneOf": [{"type": "null"}, shape({"id": TEXT, "name": TEXT})]},
        "rate": shape(RATE | {"formula": one_of("mdr_plus_fixed")}),
        "status": APPROVAL,
    }
)
MASKED: Schema = {"type": "string", "minLength": 4, "maxLength": 20}
ORGANIZATION = shape(
    {
        "object": one_of("organization"),
        "id": id_of("mer"),
        "title": TEXT,
        "account_name": TEXT,
        "statement_descriptor": TEXT,
        "pk_test_key": TEXT,
        "pk_live_key": TEXT,
        "sk_test_key": MASKED,
        "sk_live_key": MASKED,
        "branding": shape(
            dict.fromkeys(("icon", "logo"), OR_NULL)
            | {name: {"type": "string", "pattern": "^#[0-9a-f]{6}$"} for name in ("brand_color", "accent_color")}
            | {"use_logo": {"type": "boolean"}}
        ),
        "business_address": OR_NULL,
        "payment_method_settings": shape(dict.fromkeys(SOURCE_TYPES, PAYMENT_METHOD)),
        "rates": shape(dict.fromkeys(SOURCE_TYPES, shape(RATE))),
        "payout_settings": shape(
            dict.fromkeys(("delivery_type", "bank_code", "account_number", "account_name"), OR_NULL)
            | {"schedule": one_of("automatic", "manual", None)}
        ),
        "metadata": FREE,
        "status": APPROVAL,
        "created_at": MOMENT,
        "updated_at": MOMENT,
    }
)
REQUEST = shape(
    {
        "object": one_of("request"),
        "id": id_of("req"),
        "method": TEXT,
        "path": TEXT,
        "status": {"type": "integer", "minimum": 100, "maximum": 599},
        "milliseconds": AMOUNT,
        "livemode": FLAG,
        "created_at": MOMENT,
    }
)
CLOCK = shape({"object": one_of("clock"), "livemode": {"const": False}, "advanced_seconds": AMOUNT})
AMOUNTS = list_of(shape({"amount": {"type": "integer"}, "currency": {"type": "string", "pattern": "^[A-Z]{3}$"}}))
BALANCE = shape(
    {
        "object": one_of("balance"),
        "livemode": FLAG,
        **dict.fromkeys(("available", "pending", "reserved", "held"), AMOUNTS),
    }
)
NOTHING = shape({})
ERROR = shape(
    {
        "error": shape(
            {"type": TEXT, "code": TEXT, "message": {"type": "string", "minLength": 1}}
            | {"doc_url": URL, "request_id": id_of("req")},
            param=TEXT,
            errors={"type": "object", "additionalProperties": list_of(TEXT)},
            charge_id=id_of("ch"),
        )
    },
    # On the paths of checkouts.
    message=TEXT,
    detail={"type": "array", "minItems": 1, "items": shape({"loc": list_of(TEXT), "msg": TEXT, "type": TEXT})},
)


def faults_in(value: Any, schema: Schema) -> list[str]:
    """How `value` differs from its shape; empty when it does not."""
    return [f"{fault.json_path}: {fault.message}" for fault in Draft202012Validator(schema).iter_errors(value)]
