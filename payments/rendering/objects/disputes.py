"""Disputes and their evidence as the API and the webhooks show them (contract, section 3)."""

from typing import Any

from payments.models import Dispute
from payments.models.charging.evidence import SIGNATURES
from payments.providers.disputes import EvidenceType, Reason, Response
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject
from payments.rendering.objects.charges import CHARGE_ID

DISPUTE_ID = "dp_019aa3c604c68f32b3e8f2d4c5b6a798"
DISPUTE_RESPONSE = ApiObject(
    "DisputeResponse",
    "What you do about a dispute.",
    type=member.choice(
        [response.value for response in Response],
        "`evidence` was submitted, or the loss accepted.",
        "evidence",
        read="response",
    ),
    status=member.choice(
        Dispute.ResponseState.values,
        "`pending` until the provider has it, then `sent`; `refused` where it does not take it; `unknown` where it has "
        "not answered for a day, and may have it. After the last two you may correct the evidence and respond again.",
        "pending",
        read="response_state",
    ),
    message=member.text_if_any("Why it was refused, or is unknown.", read="response_why"),
    requested_at=member.moment("When you asked for it.", "2026-11-21T01:43:00.000000Z", read="responded_at"),
)


def _fee(dispute: Dispute) -> int:
    return dispute.fee if dispute.withdrawn else 0


def _responded(dispute: Dispute) -> Any:
    return dispute if dispute.responded_at else None


DISPUTE = ApiObject(
    "Dispute",
    "A charge that the payer disputes with their bank.",
    object=member.named("dispute"),
    id=member.own_id("dp", DISPUTE_ID),
    amount=member.number(
        "How much is disputed, in the currency's smallest unit. The bank says it: it may be more than the payment.",
        188_900,
    ),
    amount_withdrawn=member.number(
        "How much of it the payer's bank has taken of your balance and not given back, in the smallest unit of the "
        "charge's currency.",
        188_900,
    ),
    charge=member.id_of("ch", "The ID of the disputed charge.", CHARGE_ID, read="charge_id"),
    currency=member.currency(),
    fee=member.number(
        "Your fee while the payer's bank has the money, in the smallest unit of the charge's currency.",
        75_000,
        read=_fee,
    ),
    reason=member.choice(
        [reason.value for reason in Reason], "Why, in one vocabulary for all card networks.", "fraudulent"
    ),
    network_reason_code=member.text_if_any("The card network's own code of the reason.", "10.4", read="network_code"),
    network_reference=member.text_if_any(
        "The card network's reference of the payment.", "24270741234567890123456", read="network_ref"
    ),
    status=member.choice(
        Dispute.Status.values,
        "`warning`: the bank asks, and has taken nothing. `needs_response`: it has taken the money. `under_review`: "
        "the provider has your evidence; a bank that wants more makes it `needs_response` again. `won`, `lost`, "
        "`accepted` and `expired` are its ends; after a `won` one the bank may still take the money a second time.",
        "needs_response",
    ),
    withdrawn=member.flag("Whether the payer's bank has the money now, or a part of it.", True),
    evidence_due_at=member.moment(
        "Until when the provider takes evidence.", "2026-11-28T01:43:00.000000Z", required=False
    ),
    response=member.nested(
        DISPUTE_RESPONSE, "What you do about it, once you have asked for it.", required=False, read=_responded
    ),
    livemode=member.livemode(),
    created_at=member.created(),
    updated_at=member.updated(),
)
EVIDENCE = ApiObject(
    "Evidence",
    "One piece of evidence against a dispute. Its content is sealed, and shown to nobody but the provider.",
    object=member.named("evidence"),
    id=member.own_id("ev", "ev_019aa3c604c68f32b3e8f2d4c5b6a799"),
    dispute=member.id_of("dp", "The ID of the dispute.", DISPUTE_ID, read="dispute_id"),
    type=member.choice([kind.value for kind in EvidenceType], "What it shows.", "shipping_documentation"),
    content_type=member.choice(["text/plain", *SIGNATURES.values()], "A text, or the kind of file.", "text/plain"),
    size=member.number("The size of the text or file in bytes.", 57),
    livemode=member.livemode(),
    created_at=member.created(),
)
EVIDENCE_LIST = ApiObject(
    "EvidenceList",
    "All evidence of a dispute.",
    object=member.named("list"),
    data=member.nested(
        EVIDENCE,
        "At most one piece of each type, oldest first.",
        many=True,
        read=lambda pieces: pieces,
        example=[EVIDENCE.example],
    ),
)
