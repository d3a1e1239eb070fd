"""The shapes of checkout sessions, payment links, payment requests and webhook endpoints."""

from tests.contract.shapes import (
    AMOUNT,
    CHARGE,
    FLAG,
    FREE,
    MOMENT,
    OR_NULL,
    SOURCE_TYPES,
    TEXT,
    URL,
    Schema,
    id_of,
    list_of,
    one_of,
    shape,
)


def or_null(schema: Schema) -> Schema:
    return {"oneOf": [{"type": "null"}, schema]}


SECONDS: Schema = {"type": "integer", "minimum": 1_600_000_000, "maximum": 9_999_999_999}
ANY_CASE: Schema = {"type": "string", "pattern": "^[A-Za-z]{3}$"}
COLOUR: Schema = {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}
HTTPS = or_null({"type": "string", "pattern": "^https://"})
TYPES: Schema = {"type": "array", "items": one_of(*SOURCE_TYPES), "minItems": 1, "maxItems": 15, "uniqueItems": True}
ITEM: dict[str, Schema] = {
    "name": {"type": "string", "minLength": 1, "maxLength": 255},
    "amount": {"type": "integer", "minimum": 0, "maximum": 99_999_999_999},
    "quantity": {"type": "integer", "minimum": 0, "maximum": 1_000_000},
    "description": OR_NULL,
    "image": HTTPS,
}
ITEMS = list_of(shape(ITEM))
LINK_ITEMS = list_of(shape(ITEM | {"remaining": AMOUNT}))
BRANDING = shape({"icon": HTTPS, "logo": HTTPS, "use_logo": FLAG, "primary_color": COLOUR, "secondary_color": COLOUR})
COUNTRIES = or_null(shape({"allowed_countries": list_of({"type": "string", "pattern": "^[A-Z]{2}$"})}))
ADDRESS = or_null(
    shape(
        dict.fromkeys(("name", "line1", "barangay", "city", "state", "country", "postal_code", "zip_code"), TEXT)
        | {"line2": OR_NULL}
    )
)
# What all three have.
_SHARED: dict[str, Schema] = {
    "branding": BRANDING,
    "currency": ANY_CASE,
    "livemode": FLAG,
    "metadata": FREE,
    "payment_method_types": TYPES,
    "require_auth": FLAG,
}
SESSION = shape(
    _SHARED
    | {
        "object": one_of("checkout.session"),
        "id": id_of("cs"),
        "amount_subtotal": AMOUNT,
        "amount_total": AMOUNT,
        "billing_address_collection": one_of("auto", "required"),
        "cancel_url": URL,
        "success_url": URL,
        "payment_url": URL,
        "created_at": MOMENT,
        "expires_at": MOMENT,
        "last_updated": MOMENT,
        "customer_name_collection": FLAG,
        "phone_number_collection": FLAG,
        "line_items": ITEMS,
        "locale": one_of("en", "fil"),
        "merchant": shape({"name": TEXT, "support_email": OR_NULL, "support_phone": OR_NULL}),
        "mode": one_of("payment", "setup", "subscription", "save_card"),
        "payment_status": one_of("unpaid", "authorized", "paid", "voided", "expired"),
        "submit_type": one_of("pay", "book", "donate", "send"),
        "billing": ADDRESS,
        "shipping": ADDRESS,
        "customer": or_null(id_of("cus")),
        "payment_details": or_null(CHARGE),
        "shipping_address_collection": COUNTRIES,
        **dict.fromkeys(("bank_code", "client_reference_id", "description"), OR_NULL),
        **dict.fromkeys(("customer_email", "customer_name", "customer_phone"), OR_NULL),
    }
)
LINK = shape(
    _SHARED
    | {
        "object": one_of("payment_link"),
        "id": id_of("plink"),
        "active": FLAG,
        "allow_adjustable_quantity": FLAG,
        "created": SECONDS,
        "updated": SECONDS,
        "internal_name": TEXT,
        "line_items": LINK_ITEMS,
        "phone_number_collection": FLAG,
        "url": {"type": "string", "pattern": "^https?://.*/[0-9A-Za-z]{10}$"},
        "description": OR_NULL,
        "expiry": or_null({"type": "string", "pattern": "^[0-9]{2}/[0-9]{2}/[0-9]{4}$"}),
        "maximum_payments": or_null({"type": "integer", "minimum": 1}),
        "redirect_url": or_null(URL),
        "shipping_address_collection": COUNTRIES,
    }
)
_REQUEST: dict[str, Schema] = _SHARED | {
    "object": one_of("payment_request"),
    "id": id_of("pr"),
    "account_name": TEXT,
    "created": SECONDS,
    "updated": SECONDS,
    "customer": id_of("cus"),
    "customer_email": TEXT,
    "customer_name": TEXT,
    "delivery_methods": {"type": "array", "items": one_of("email", "sms"), "minItems": 1, "maxItems": 2},
    "delivered": shape({"email": FLAG, "sms": FLAG}),
    "line_items": ITEMS,
    "number": {"type": "string", "pattern": "^[0-9A-F]{8}-[0-9]{4,}$"},
    "paid": FLAG,
    "voided": FLAG,
    "payment_request_url": URL,
    "subtotal": AMOUNT,
    "total": AMOUNT,
    **dict.fromkeys(("account_support_email", "customer_phone", "message", "void_reason"), OR_NULL),
    **dict.fromkeys(("paid_at", "voided_at"), or_null(SECONDS)),
    "payment_details": or_null(CHARGE),
}
_COLLECT: dict[str, Schema] = {
    "schedule": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 15},
    "recurring": FLAG,
    "tries": AMOUNT,
    "next_at": or_null(SECONDS),
    "state": one_of("waiting", "trying", "ended"),
    "ended_because": OR_NULL,
}
# Of those that collect themselves only, and a list has both.
REQUEST = shape(_REQUEST, source=id_of("src"), collect=shape(_COLLECT))
COLLECTING_REQUEST = shape(_REQUEST | {"source": id_of("src"), "collect": shape(_COLLECT)})
VOIDED_REQUEST = shape(_REQUEST | {"data": REQUEST})
_ENDPOINT: dict[str, Schema] = {
    "object": one_of("webhook_endpoint"),
    "id": id_of("we"),
    "url": URL,
    "enabled_events": list_of(TEXT),
    "status": one_of("enabled", "paused", "disabled"),
    "livemode": FLAG,
    "description": OR_NULL,
    "metadata": FREE,
    "created_at": MOMENT,
    "updated_at": MOMENT,
}
ENDPOINT = shape(_ENDPOINT)
NEW_ENDPOINT = shape(_ENDPOINT | {"secret": {"type": "string", "pattern": "^whsec_"}})
DELETED_ENDPOINT = shape({"id": id_of("we"), "object": one_of("webhook_endpoint"), "deleted": {"const": True}})
ENDPOINT_TEST = shape(
    {
        "object": one_of("webhook_test"),
        "delivered": FLAG,
        "status": or_null({"type": "integer"}),
        "error": OR_NULL,
        "milliseconds": AMOUNT,
    }
)
