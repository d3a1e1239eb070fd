"""The shapes of payouts and balance transactions."""

from tests.contract.shapes import FLAG, MOMENT, TEXT, Schema, id_of, one_of, shape

AMOUNT: Schema = {"type": "integer", "minimum": 1}
CODE: Schema = {"type": "string", "pattern": "^[A-Z]{3}$"}
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
        "amount": AMOUNT,
        "currency": CODE,
        "reserve": {"type": "integer", "minimum": 0},
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
    leaves={"type": "array", "items": {"type": "integer", "minimum": 0}},
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
    leaf={"type": "integer", "minimum": 0},
)
PROOF = shape(
    {
        "object": one_of("proof"),
        "transaction": id_of("txn"),
        "leaf": {"type": "integer", "minimum": 0},
        "path": {"type": "array", "items": TEXT},
        **dict.fromkeys(("content", "salt", "opening", "head"), TEXT),
    }
)
