"""Dispute webhooks of Adyen.

The signature covers the dispute's reference, amount and event, and so all that moves money; reason and deadline are in
additional data, which it does not cover, and are only shown.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from payments.providers.base import WebhookEvent
from payments.providers.disputes import Disputed, Reason, Stage
from payments.sensitive_data.redaction import shortened

Item = dict[str, Any]

STAGES: dict[str, Stage] = {
    "REQUEST_FOR_INFORMATION": Stage.INQUIRY,
    "NOTIFICATION_OF_CHARGEBACK": Stage.NOTICE,
    "INFORMATION_SUPPLIED": Stage.EVIDENCE,
    "DISPUTE_OPENED_WITH_CHARGEBACK": Stage.CHARGEBACK,
    "CHARGEBACK": Stage.CHARGEBACK,
    "DISPUTE_DEFENSE_PERIOD_ENDED": Stage.EXPIRED,
    "CHARGEBACK_REVERSED": Stage.REVERSED,
    "PREARBITRATION_OPEN": Stage.PREARBITRATION,
    "PREARBITRATION_DECLINED": Stage.PREARBITRATION_ANSWERED,
    "SECOND_CHARGEBACK": Stage.SECOND_CHARGEBACK,
    "ISSUER_RESPONSE_TIMEFRAME_EXPIRED": Stage.WON_FINALLY,
    "PREARBITRATION_ISSUER_WITHDRAWN": Stage.WON_FINALLY,
    "PREARBITRATION_WON": Stage.WON_FINALLY,
    "PREARBITRATION_ACCEPTED": Stage.LOST_FINALLY,
    "PREARBITRATION_LOST": Stage.LOST_FINALLY,
    "SCHEME_ARBITRATION": Stage.ARBITRATION,
    "SCHEME_ARBITRATION_WON": Stage.ARBITRATION_WON,
    "SCHEME_ARBITRATION_LOST": Stage.ARBITRATION_LOST,
}
# The same of a request for information, of which no money was taken: it is no step of the chargeback that may follow.
OF_INQUIRY: dict[str, Stage] = {
    "INFORMATION_SUPPLIED": Stage.INQUIRY_ANSWERED,
    "DISPUTE_DEFENSE_PERIOD_ENDED": Stage.INQUIRY_EXPIRED,
    "ISSUER_RESPONSE_TIMEFRAME_EXPIRED": Stage.INQUIRY_CLOSED,
}
# Codes of Visa and Mastercard; those of other networks are shown as they are, under a general reason.
REASONS: dict[str, Reason] = {
    **dict.fromkeys(["10.1", "10.2", "10.3", "10.4", "10.5", "4837", "4870", "4871"], Reason.FRAUDULENT),
    **dict.fromkeys(["13.1", "4855"], Reason.NOT_RECEIVED),
    **dict.fromkeys(["13.3", "13.4", "13.5", "4853"], Reason.NOT_AS_DESCRIBED),
    **dict.fromkeys(["13.6", "13.7", "4860"], Reason.CREDIT_NOT_PROCESSED),
    **dict.fromkeys(["13.2", "4841"], Reason.SUBSCRIPTION_CANCELED),
    **dict.fromkeys(["12.6", "12.6.1", "12.6.2"], Reason.DUPLICATE),
    **dict.fromkeys(["12.1", "12.2", "12.3", "12.4", "12.5", "12.7", "4834"], Reason.PROCESSING_ERROR),
    "4863": Reason.UNRECOGNIZED,
}


def read(key: Callable[[Item], str]) -> Callable[[Item], WebhookEvent]:
    """Return how a dispute's event is read; `key` makes its key of an item."""

    def event(item: Item) -> WebhookEvent:
        additional = item.get("additionalData") or {}
        code = str(additional.get("chargebackReasonCode") or additional.get("rfiReasonCode") or "")
        dispute = Disputed(
            provider_ref=item["pspReference"],
            stage=_stage(item["eventCode"], additional),
            amount=item["amount"]["value"],
            currency=item["amount"]["currency"],
            reason=REASONS.get(code, Reason.GENERAL),
            network_code=shortened(code, 40),
            network_ref=str(additional.get("arn") or "")[:255],
            evidence_due_at=_moment(additional.get("defensePeriodEndsAt")),
        )
        return WebhookEvent(
            item["merchantReference"], None, key(item), provider_ref=item["pspReference"], dispute=dispute
        )

    return event


def _stage(event: str, additional: Item) -> Stage:
    """Return the stage of an event. One reports both that time is over and that the merchant gave up."""
    if event in OF_INQUIRY and additional.get("rfiReasonCode") and not additional.get("chargebackReasonCode"):
        return OF_INQUIRY[event]
    is_accepted = event == "DISPUTE_DEFENSE_PERIOD_ENDED" and additional.get("disputeStatus") == "Accepted"
    return Stage.ACCEPTED if is_accepted else STAGES[event]


def _moment(text: object) -> datetime | None:
    """Return the moment in `text`; None for what is no moment with an offset."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment if moment.tzinfo else None
