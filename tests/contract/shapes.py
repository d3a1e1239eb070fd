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
POSITIVE: Schema = {"type": "integer", "minimum": 1}
CODE: Schema = {"type": "string", "pattern": "^[A-Z]{3}$"}
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
        "amount": POSITIVE,
        "charge": id_of("ch"),
        "currency": CODE,
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
        "amount": POSITIVE,
        "amount_captured": AMOUNT,
        "amount_refunded": AMOUNT,
        "authorized": FLAG,
        "captured": FLAG,
        "disputed": FLAG,
        "currency": CODE,
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
        "sequence": POSITIVE,
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
AMOUNTS = list_of(shape({"amount": {"type": "integer"}, "currency": CODE}))
BALANCE = shape(
    {
        "object": one_of("balance"),
        "livemode": FLAG,
        **dict.fromkeys(("available", "pending", "reserved", "held"), AMOUNTS),
    }
)
DISPUTE = shape(
    {
        "object": one_of("dispute"),
        "id": id_of("dp"),
        "amount": POSITIVE,
        "charge": id_of("ch"),
        "currency": CODE,
        "fee": AMOUNT,
        "reason": TEXT,
        "status": one_of("warning", "needs_response", "under_review", "won", "lost", "accepted", "expired"),
        "withdrawn": FLAG,
        "amount_withdrawn": AMOUNT,
        "livemode": FLAG,
        "created_at": MOMENT,
        "updated_at": MOMENT,
    },
    network_reason_code=TEXT,
    network_reference=TEXT,
    evidence_due_at=MOMENT,
    response=shape(
        {
            "type": one_of("evidence", "accept"),
            "status": one_of("pending", "sent", "refused", "unknown"),
            "requested_at": MOMENT,
        },
        message=TEXT,
    ),
)
EVIDENCE = shape(
    {
        "object": one_of("evidence"),
        "id": id_of("ev"),
        "dispute": id_of("dp"),
        "type": TEXT,
        "content_type": one_of("text/plain", "application/pdf", "image/png", "image/jpeg"),
        "size": POSITIVE,
        "livemode": FLAG,
        "created_at": MOMENT,
    }
)
EVIDENCES = shape({"object": one_of("list"), "data": list_of(EVIDENCE)})
BANK: Schema = {
    "holder": TEXT,
    "last4": {"type": "string", "minLength": 1, "maxLength": 4},
    "bic": {"type": "string", "pattern": "^[A-Z0-9]{8}([A-Z0-9]{3})?$"},
    "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
}
ACCOUNT = shape(
    {
        "object": one_of("payout_account"),
        "id": id_of("ba"),
        "currency": CODE,
        **BANK,
        "livemode": FLAG,
        "effective_at": MOMENT,
        "created_at": MOMENT,
    },
    withdrawn_at=MOMENT,
)
PAYOUT = shape(
    {
        "object": one_of("payout"),
        "id": id_of("po"),
        "amount": POSITIVE,
        "currency": CODE,
        "reserve": AMOUNT,
        "status": one_of("pending", "in_transit", "paid", "failed", "cancelled"),
        "bank_account": shape(BANK),
        "livemode": FLAG,
        "created_at": MOMENT,
        "updated_at": MOMENT,
    },
    reserve_release_at=MOMENT,
    failure_code=TEXT,
    sent_at=MOMENT,
    paid_at=MOMENT,
    leaves=list_of(AMOUNT),
)
TRANSACTION = shape(
    {
        "object": one_of("balance_transaction"),
        "id": id_of("txn"),
        "type": one_of(
            *("capture", "fee", "void", "refund", "refund_failed", "dispute", "dispute_won", "dispute_fee", "settle"),
            *("payout", "payout_failed", "payout_late", "reserve", "reserve_release"),
        ),
        "balance": one_of("pending", "available", "reserved"),
        "amount": {"type": "integer", "not": {"const": 0}},
        "currency": CODE,
        "livemode": FLAG,
        "created_at": MOMENT,
    },
    charge=id_of("ch"),
    payout=id_of("po"),
    leaf=AMOUNT,
)
PROOF = shape(
    {
        "object": one_of("proof"),
        "transaction": id_of("txn"),
        "leaf": AMOUNT,
        "path": list_of(TEXT),
        **dict.fromkeys(("content", "salt", "opening", "head"), TEXT),
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
