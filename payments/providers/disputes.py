"""What a provider reports of a dispute: the payer's bank asks about a payment, or takes its money back."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

from payments.sensitive_data.redaction import redact


class Stage(IntEnum):
    """What a provider reports of a dispute, in the order in which it happens."""

    INQUIRY = 10  # a request for information
    INQUIRY_ANSWERED = 15  # the bank has the evidence, and has taken no money
    INQUIRY_EXPIRED = 18  # no answer came in time, and the bank has taken no money
    INQUIRY_CLOSED = 20  # the bank was satisfied
    NOTICE = 25  # of a chargeback: evidence counts for it
    CHARGEBACK = 30  # the money was taken
    EXPIRED = 40  # no evidence came in time
    ACCEPTED = 50  # the merchant gave up
    EVIDENCE = 60  # the provider has the evidence
    ASKED_AGAIN = 62  # the bank has the money, and wants more evidence before it decides
    ACCEPTED_LATER = 64  # the merchant gave up when it was asked again
    EVIDENCE_AGAIN = 66  # the provider has more evidence
    REVERSED = 70  # the money came back
    PREARBITRATION = 72  # the bank does not agree, and asks before it takes the money again
    PREARBITRATION_ANSWERED = 74  # the provider has declined that, with what the merchant has
    PREARBITRATION_ACCEPTED = 76  # the merchant gave up then
    SECOND_CHARGEBACK = 80  # the bank took it again
    WON_FINALLY = 90  # it came back before or by arbitration
    LOST_FINALLY = 100
    ARBITRATION = 105  # the card network decides
    ARBITRATION_WON = 110
    ARBITRATION_LOST = 120


class Reason(StrEnum):
    """Why the payer's bank disputes a payment: one vocabulary for all networks and providers."""

    FRAUDULENT = "fraudulent"
    NOT_RECEIVED = "product_not_received"
    NOT_AS_DESCRIBED = "product_unacceptable"
    CREDIT_NOT_PROCESSED = "credit_not_processed"
    SUBSCRIPTION_CANCELED = "subscription_canceled"
    DUPLICATE = "duplicate"
    PROCESSING_ERROR = "processing_error"
    UNRECOGNIZED = "unrecognized"
    GENERAL = "general"


class Response(StrEnum):
    """What a merchant does about a dispute."""

    EVIDENCE = "evidence"
    ACCEPT = "accept"


# The code of a refusal of evidence of which no document can be made; nothing final was done.
UNUSABLE = "evidence_unusable"


class EvidenceType(StrEnum):
    """What a piece of evidence shows; a dispute has one piece of each type at most."""

    RECEIPT = "receipt"
    SHIPPING = "shipping_documentation"
    SERVICE = "service_documentation"
    SIGNATURE = "customer_signature"
    COMMUNICATION = "customer_communication"
    REFUND_POLICY = "refund_policy"
    CANCELLATION_POLICY = "cancellation_policy"
    DUPLICATE = "duplicate_charge_documentation"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece: a text, or a file of `content_type` in base64. Content and name are in no repr: they are personal."""

    type: EvidenceType
    content_type: str
    content: str = field(repr=False)
    # For its merchant's people; no provider gets it.
    name: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class DisputeResponse:
    """A merchant's response to a dispute.

    `provider_ref` is the provider's name of the dispute, `payment_reference` ours of its payment. Only a response of
    evidence has pieces of it.
    """

    provider_ref: str
    payment_reference: str
    response: Response
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Disputed:
    """One stage of a dispute of a payment.

    `provider_ref` is the provider's name of the dispute, the same at each stage. `amount` is what this stage moves, in
    the smallest unit of `currency`: a part, or more than was paid, where the report says so. `network_code` is the card
    network's code of the reason, `network_ref` its reference of the case.
    """

    provider_ref: str
    stage: Stage
    amount: int
    currency: str
    reason: Reason = Reason.GENERAL
    network_code: str = ""
    network_ref: str = ""
    evidence_due_at: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "network_code", redact(self.network_code))


@dataclass(frozen=True, slots=True)
class DisputeNews:
    """There is news of a dispute that the provider calls `provider_ref`, which must be asked what it is.

    `claims` is the stage that the message speaks of, as far as it says. It proves nothing; but an answer that is not as
    far may be older than the message.
    """

    provider_ref: str
    claims: Stage | None = None


@dataclass(frozen=True, slots=True)
class FoundDispute:
    """What a provider answers about a dispute: our reference of its payment, and its stages so far, oldest first.

    `unclear` says to operators what else the provider says of it that nobody documents, or not enough; empty for
    nothing. The stages are certain all the same.
    """

    payment_reference: str
    stages: tuple[Disputed, ...]
    unclear: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "unclear", redact(self.unclear))


def news_from(members: dict[str, Any]) -> DisputeNews:
    """Return the news that `json` was made of by `json.dumps(asdict(…))`."""
    claims = members["claims"]
    return DisputeNews(members["provider_ref"], None if claims is None else Stage(claims))


def disputed_from(members: dict[str, object]) -> Disputed:
    """Return the dispute that `json` was made of by `json.dumps(asdict(…), default=str)`."""
    due = members.pop("evidence_due_at")
    stage, reason = Stage(int(str(members.pop("stage")))), Reason(str(members.pop("reason")))
    at = datetime.fromisoformat(str(due)) if due else None
    return Disputed(stage=stage, reason=reason, evidence_due_at=at, **members)  # type: ignore[arg-type]
