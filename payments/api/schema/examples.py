"""Examples of requests and answers in the OpenAPI document; the card numbers are those of test cards."""

from typing import Any

from payments import sourcetypes

CARD = {
    "name": "Juan dela Cruz",
    "number": "4000000000003055",
    "exp_month": "12",
    "exp_year": "2039",
    "cvc": "123",
}
REDIRECT = {
    "success": "https://shop.example/thanks",
    "fail": "https://shop.example/sorry",
    "notify": "https://shop.example/hooks/kaha",
}
OWNER = {
    "billing": {
        "name": "Juan dela Cruz",
        "email": "juan@example.com",
        "line1": "12 Session Road",
        "city": "Baguio",
        "country": "PH",
        "zip_code": "2600",
    }
}
CARD_SOURCE_REQUEST = {"type": "card", "card": CARD, "redirect": REDIRECT, "owner": OWNER}
WALLET_SOURCE_REQUEST = {
    "type": "gcash",
    "redirect": {"success": "https://shop.example/thanks", "fail": "https://shop.example/sorry"},
}

SOURCE_ID = "src_019aa3c5d1f27c3e9d0b5a8e4f6c2b11"
CHARGE_ID = "ch_019aa3c5e2a47d10b1c6f0d2a3948576"
REFUND_ID = "re_019aa3c5f3b57e21a2d7e1c3b4a59687"
EVIDENCE_ID = "ev_019aa3c604c68f32b3e8f2d4c5b6a799"
DISPUTE_ID = "dp_019aa3c604c68f32b3e8f2d4c5b6a798"
PAYOUT_ID = "po_019aa3c715d79043a4f903e5d6c7b8a9"
TRANSACTION_ID = "txn_019aa3c726e8a154b5fa14f6e7d8c9ba"
TIMES = {"created_at": "2026-11-21T01:43:00.123456Z", "updated_at": "2026-11-21T01:43:00.123456Z"}
MODE = {"livemode": False}

SOURCE: dict[str, Any] = {
    "object": "source",
    "id": SOURCE_ID,
    "type": "card",
    "card": {
        "object": "card",
        "id": "card_019aa3c5d1f27c3e9d0b5a8e4f6c2b12",
        "name": "Juan dela Cruz",
        "last4": "3055",
        "exp_month": "12",
        "exp_year": "2039",
        "brand": "visa",
        "country": "US",
        "cvc_checked": "unchecked",
        "funding": "credit",
        "issuing_bank": "Test Bank",
    },
    "redirect": REDIRECT,
    "owner": OWNER,
    "vaulted": False,
    "used": False,
    **MODE,
    **TIMES,
    "metadata": {},
}
WALLET_SOURCE: dict[str, Any] = {
    "object": "source",
    "id": "src_019aa3c5d1f27c3e9d0b5a8e4f6c2b13",
    "type": "gcash",
    "redirect": WALLET_SOURCE_REQUEST["redirect"],
    "vaulted": False,
    "used": False,
    **MODE,
    **TIMES,
    "metadata": {},
}

CHARGE_REQUEST = {
    "amount": 188_900,
    "currency": "PHP",
    "source": SOURCE_ID,
    "description": "Order 77",
    "statement_descriptor": "SARI STORE",
    "capture": False,
    "metadata": {"order": "77"},
}
_CHARGED_SOURCE = SOURCE | {"used": True, "card": SOURCE["card"] | {"cvc_checked": "pass"}, "require_auth": True}
HELD: dict[str, Any] = {
    "object": "charge",
    "id": CHARGE_ID,
    "amount": 188_900,
    "amount_captured": 0,
    "amount_refunded": 0,
    "authorized": True,
    "captured": False,
    "currency": "PHP",
    "statement_descriptor": "SARI STORE",
    "description": "Order 77",
    "source": _CHARGED_SOURCE,
    "require_auth": True,
    "owner": OWNER,
    "disputed": False,
    "refunds": [],
    "status": "succeeded",
    **MODE,
    **TIMES,
    "metadata": {"order": "77"},
}
CAPTURED = HELD | {"authorized": False, "captured": True, "amount_captured": 188_900}
VOIDED = HELD | {"authorized": False, "status": "voided"}
REFUND: dict[str, Any] = {
    "object": "refund",
    "id": REFUND_ID,
    "amount": 50_000,
    "charge": CHARGE_ID,
    "currency": "PHP",
    "reason": "requested_by_customer",
    "status": "succeeded",
    **MODE,
    **TIMES,
}
DISPUTE: dict[str, Any] = {
    "object": "dispute",
    "id": DISPUTE_ID,
    "amount": 188_900,
    "charge": CHARGE_ID,
    "currency": "PHP",
    "fee": 75_000,
    "reason": "fraudulent",
    "network_reason_code": "10.4",
    "network_reference": "24270741234567890123456",
    "status": "needs_response",
    "withdrawn": True,
    "evidence_due_at": "2026-11-28T01:43:00.000000Z",
    **MODE,
    **TIMES,
}
PENDING_RESPONSE = {"status": "pending", "requested_at": "2026-11-21T01:43:00.000000Z"}
SUBMITTED = DISPUTE | {"response": {"type": "evidence", **PENDING_RESPONSE}}
ACCEPTED = DISPUTE | {"response": {"type": "accept", **PENDING_RESPONSE}}
EVIDENCE: dict[str, Any] = {
    "object": "evidence",
    "id": EVIDENCE_ID,
    "dispute": DISPUTE_ID,
    "type": "shipping_documentation",
    "content_type": "text/plain",
    "size": 57,
    **MODE,
    "created_at": TIMES["created_at"],
}
EVIDENCE_REQUEST = {
    "type": "shipping_documentation",
    "text": "Delivered on 2026-11-19 to Juan dela Cruz, who signed for it.",
}
TO_BANK: dict[str, Any] = {"holder": "Sari Store Trading", "last4": "6789", "bic": "BNORPHMM", "country": "PH"}
PAYOUT_ACCOUNT: dict[str, Any] = {
    "object": "payout_account",
    "id": "ba_019aa3c715d79043a4f903e5d6c7b8b0",
    "currency": "PHP",
    **TO_BANK,
    "livemode": True,
    "effective_at": "2026-11-22T01:43:00.123456Z",
    "created_at": TIMES["created_at"],
}
PAYOUT: dict[str, Any] = {
    "object": "payout",
    "id": PAYOUT_ID,
    "amount": 1_084_050,
    "currency": "PHP",
    "reserve": 120_450,
    "reserve_release_at": "2027-02-19T01:00:00.000000Z",
    "status": "paid",
    "bank_account": TO_BANK,
    **MODE,
    "sent_at": "2026-11-21T02:10:00.000000Z",
    "paid_at": "2026-11-22T02:10:00.000000Z",
    **TIMES,
}
TRANSACTION: dict[str, Any] = {
    "object": "balance_transaction",
    "id": TRANSACTION_ID,
    "type": "settle",
    "balance": "available",
    "amount": 180_788,
    "currency": "PHP",
    "charge": CHARGE_ID,
    **MODE,
    "created_at": "2026-11-21T01:43:00.123000Z",
}
REFUNDED = CAPTURED | {"amount_refunded": 50_000, "refunds": [REFUND]}
AWAITING_PAYER = HELD | {
    "authorized": False,
    "status": "pending",
    "action": {"type": "redirect_to_url", "url": "https://pay.example/challenge/9f2c"},
}
AWAITING_PIN = AWAITING_PAYER | {
    "source": WALLET_SOURCE | {"type": "bpi", "used": True, "require_auth": True},
    "action": {"type": "verify_otp", "confirmation_id": "7d1b0c55", "url": "https://pay.example/pin/9f2c"},
}
DECLINED = HELD | {
    "authorized": False,
    "status": "failed",
    "failure_data": {
        "code": "insufficient_funds",
        "reason": "There is not enough money on the account.",
        "next_steps": "Use another card or another way to pay.",
        "provider_response": {
            "code": "insufficient_funds",
            "message": "The account lacks funds.",
            "logref": "sp_019aa3c5e2a47d10b1c6f0d2a3948577",
            "links": [],
        },
    },
}
EVENT: dict[str, Any] = {
    "id": "evt_019aa3c5e2b27a9cb3e1f4d5c6b7a890",
    "object": "event",
    "type": "charge.captured",
    "created": 1_795_225_380,
    "created_at": TIMES["created_at"],
    **MODE,
    "data": {"object": CAPTURED},
    "request": {"id": "req_019aa3c5d1f27c3e9d0b5a8e4f6c2b1a", "idempotency_key": "order-77-capture"},
    "sequence": 3,
}
RATE = {"mdr": 3.5, "fixed_fee": 1_500}
PAYMENT_METHOD = {
    "mid": None,
    "gateway": {"id": "simulator", "name": "Simulator"},
    "rate": {**RATE, "formula": "mdr_plus_fixed"},
    "status": "approved",
}
ACCOUNT: dict[str, Any] = {
    "object": "organization",
    "id": "mer_019aa3c5d0a17b2c8c9a4f5e6d7c8b90",
    "title": "Sari Store",
    "account_name": "Sari Store Trading",
    "statement_descriptor": "SARI STORE",
    "pk_test_key": "pk_test_…",
    "pk_live_key": "pk_live_…",
    "sk_test_key": "****51ab",
    "sk_live_key": "****90cd",
    "branding": {
        "icon": None,
        "logo": "https://shop.example/logo.svg",
        "use_logo": True,
        "brand_color": "#1a73e8",
        "accent_color": "#ffd84d",
    },
    "status": "approved",
    "business_address": "12 Session Road, Baguio",
    "payment_method_settings": dict.fromkeys(sourcetypes.NAMES, PAYMENT_METHOD),
    "rates": dict.fromkeys(sourcetypes.NAMES, RATE),
    "payout_settings": {
        "schedule": "automatic",
        "delivery_type": "bank_transfer",
        "bank_code": "BNORPHMM",
        "account_number": "****6789",
        "account_name": "Sari Store Trading",
    },
    "metadata": {},
    **TIMES,
}
ORGANIZATION: dict[str, Any] = {
    "object": "organization",
    "id": ACCOUNT["id"],
    "changed": ["notify_url"],
    "before": {"notify_url": "https://shop.example/kaha"},
    "after": {"notify_url": "https://shop.example/payments/kaha"},
    "livemode": True,
    "updated_at": TIMES["updated_at"],
}
REQUEST: dict[str, Any] = {
    "object": "request",
    "id": "req_019aa3c5d1f27c3e9d0b5a8e4f6c2b1a",
    "method": "POST",
    "path": f"/v2/charges/{CHARGE_ID}/capture",
    "status": 200,
    "milliseconds": 12,
    **MODE,
    "created_at": TIMES["created_at"],
}
BALANCE: dict[str, Any] = {
    "object": "balance",
    "livemode": False,
    "available": [{"amount": 1_204_500, "currency": "PHP"}],
    "pending": [{"amount": 115_785, "currency": "PHP"}],
    "reserved": [{"amount": 120_450, "currency": "PHP"}],
    "held": [{"amount": 0, "currency": "PHP"}],
}


def page(path: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the list at `path`, with one row of many."""
    return {"object": "list", "data": [row], "next": f"{path}?start_after={row['id']}"}
