"""The shapes of disputes and their evidence."""

from tests.contract.shapes import FLAG, MOMENT, TEXT, id_of, one_of, shape

DISPUTE = shape(
    {
        "object": one_of("dispute"),
        "id": id_of("dp"),
        "amount": {"type": "integer", "minimum": 1},
        "charge": id_of("ch"),
        "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "fee": {"type": "integer", "minimum": 0},
        "reason": TEXT,
        "status": one_of("warning", "needs_response", "under_review", "won", "lost", "accepted", "expired"),
        "withdrawn": FLAG,
        "amount_withdrawn": {"type": "integer", "minimum": 0},
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
        "size": {"type": "integer", "minimum": 1},
        "livemode": FLAG,
        "created_at": MOMENT,
    }
)
EVIDENCES = shape({"object": one_of("list"), "data": {"type": "array", "items": EVIDENCE}})
