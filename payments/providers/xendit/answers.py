"""How a payment stands, by Xendit's description of its request."""

from http import HTTPStatus

from payments.providers.base import ActionRequired, Approved, Declined, Outcome, Payment, Pending, Unknown
from payments.providers.xendit.client import Asked, XenditAnswer
from payments.providers.xendit.declines import declined
from payments.providers.xendit.fields import OTHER_MONEY, OTHER_STATUS, Body, is_whole, objects, read_about, text

# Refusals that a payer can do something about.
PAYERS = frozenset(["CARD_EXPIRED", "INVALID_PAYMENT_DETAILS"])


def payment(asked: Payment, answer: Asked) -> Outcome:
    """How a payment stands, or why there is none."""
    if isinstance(answer, XenditAnswer) and answer.status == HTTPStatus.CONFLICT:
        return Unknown("the provider has a payment of this reference already")
    if isinstance(answer, XenditAnswer) and answer.error_code in PAYERS:
        return declined(answer.error_code)
    return read_about(asked, asked.reference, answer, _payment)


def _payment(asked: Payment, body: Body) -> Outcome:
    ref = text(body, "payment_request_id")
    if not ref or not is_whole(body, "request_amount", asked):
        return OTHER_MONEY
    match body.get("status"):
        case "REQUIRES_ACTION" | "ACCEPTING_PAYMENTS":
            values = {text(action, "descriptor"): text(action, "value") for action in objects(body, "actions")}
            url, qr = values.get("WEB_URL", ""), values.get("QR_STRING", "")
            if url.startswith("https://"):
                return ActionRequired(ref, url)
            # Any other action cannot be shown.
            return ActionRequired(ref, url="", qr=qr) if qr else Pending(ref)
        case "AUTHORIZED" if not asked.capture:
            return _approved(asked, ref, body, captured=False)
        case "SUCCEEDED":
            # A hold that was captured since was approved as a hold; how much was taken of it is the capture's matter.
            return _approved(asked, ref, body, captured=asked.capture)
        case "PENDING" | "AUTHORIZED":
            return Pending(ref)
        case _:
            return _failed(ref, body)


def _failed(ref: str, body: Body) -> Outcome:
    match body.get("status"):
        case "FAILED":
            return declined(body.get("failure_code"), ref)
        case "EXPIRED":
            return Declined("action_expired", ref, "EXPIRED")
        case "CANCELED":
            return Declined("payer_cancelled", ref, "CANCELED")
        case _:
            return OTHER_STATUS


def _approved(asked: Payment, ref: str, body: Body, *, captured: bool) -> Approved:
    # Xendit checks a CVC and does not say how that ended.
    cvc_checked = "unavailable" if asked.card and asked.card.cvc else "unchecked"
    facts = {"status": text(body, "status"), "payment_id": text(body, "latest_payment_id")}
    return Approved(ref, captured, cvc_checked, facts)
