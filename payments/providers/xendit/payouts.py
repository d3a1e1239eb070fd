"""Payouts by Xendit's Payouts API v2. Status: contract-tested, not run against the provider.

Its documents leave open: whether a list by reference is bare, as the reference shows it, or in `data`, as in Xendit's
own packages (both are read); for how long an idempotency key is kept; and the error codes of a payout that is not
taken, which an older page has.
"""

from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from payments.money import major_units
from payments.providers.base import NotFound, NotSent, PayoutOutcome, Rejected, Unknown
from payments.providers.payouts import Accepted, Failed, Paid, PayoutOrder, Returned
from payments.providers.xendit.client import Asked, XenditAnswer, XenditClient
from payments.providers.xendit.fields import BUSY, OTHER_MONEY, OTHER_STATUS, Body, is_whole, objects, text

PAYOUTS = "/v2/payouts"
CURRENCY = "PHP"
# Channels of banks in the Philippines by the first eight characters of their BIC. Xendit shows its list in a table that
# could not be read; these codes agree in several published integrations. A bank that is not here is refused.
CHANNELS = {
    "AUBKPHMM": "PH_AUB",
    "BNORPHMM": "PH_BDO",
    "BOPIPHMM": "PH_BPI",
    "CHBKPHMM": "PH_CBC",
    "DBPHPHMM": "PH_DBP",
    "EWBCPHMM": "PH_EWB",
    "MBTCPHMM": "PH_MET",
    "PHSBPHMM": "PH_PSB",
    "PNBMPHMM": "PH_PNB",
    "RCBCPHMM": "PH_RCBC",
    "SETCPHMM": "PH_SEC",
    "TLBPPHMM": "PH_LBP",
    "UBPHPHMM": "PH_UBP",
}
# A BIC without its branch.
INSTITUTION_LENGTH = 8
UNDER_WAY = ("ACCEPTED", "PENDING_COMPLIANCE_ASSESSMENT", "REQUESTED", "READY", "LOCKED")
NOT_PAID = ("FAILED", "CANCELLED", "EXPIRED", "COMPLIANCE_REJECTED")
# Reasons of a payout that was not taken or failed, in our codes; any other is a reason of the provider's own.
CODES = {
    "CHANNEL_CODE_NOT_SUPPORTED_ERROR": "bank_not_supported",
    "INSUFFICIENT_BALANCE": "insufficient_funds",
    "INVALID_DESTINATION": "account_refused",
    "MAXIMUM_TRANSFER_LIMIT_ERROR": "amount_refused",
    "MINIMUM_TRANSFER_LIMIT_ERROR": "amount_refused",
    "RECIPIENT_ACCOUNT_NUMBER_ERROR": "account_refused",
    "RECIPIENT_AMOUNT_ERROR": "amount_refused",
}
# Those by which a payout is not taken at all, and that are about its bank account or amount and not about us.
NOT_TAKEN = CODES.keys() - {"INSUFFICIENT_BALANCE"}


def obstacle(bic: str, currency: str) -> str:
    """Return why Xendit cannot pay out to the bank with this BIC in this currency; empty where it can."""
    if currency != CURRENCY:
        return f"Xendit pays out in {CURRENCY} here, and not in {currency}."
    if bic[:INSTITUTION_LENGTH] not in CHANNELS:
        return f"Xendit has no channel to the bank {bic}: use a bank file, or an account at another bank."
    return ""


def create(client: XenditClient, order: PayoutOrder) -> PayoutOutcome:
    """Ask for a payout, once for each reference."""
    if obstacle(order.bic, order.currency):
        return Failed("bank_not_supported")
    answer = client.post(PAYOUTS, _body(order), idempotency_key=order.reference)
    if not isinstance(answer, XenditAnswer):
        return answer
    return _not_taken(answer) if answer.error_code else _described(order, answer.body)


def find(client: XenditClient, order: PayoutOrder) -> PayoutOutcome:
    """Look a payout up: by Xendit's ID where there is one, else by our reference."""
    if order.provider_ref:
        return _found(order, client.get(f"{PAYOUTS}/{quote(order.provider_ref, safe='')}"))
    answer = client.get(PAYOUTS, reference_id=order.reference)
    if not isinstance(answer, XenditAnswer) or answer.error_code:
        return _found(order, answer)
    if not isinstance(answer.body.get("data"), list):
        return Unknown("the provider does not list payouts")
    listed = [body for body in objects(answer.body, "data") if body.get("reference_id") == order.reference]
    if len(listed) > 1:
        return Unknown("the provider has several payouts of this reference")
    return _described(order, listed[0]) if listed else NotFound()


def _body(order: PayoutOrder) -> dict[str, Any]:
    return {
        "reference_id": order.reference,
        "channel_code": CHANNELS[order.bic[:INSTITUTION_LENGTH]],
        "channel_properties": {"account_number": order.number, "account_holder_name": order.holder},
        "amount": major_units(order.amount, order.currency),
        "currency": order.currency,
        "description": order.description,
    }


def _not_taken(answer: XenditAnswer) -> PayoutOutcome:
    """Return the outcome of a refused request. The provider's words may repeat the account, and are not kept."""
    if answer.status == HTTPStatus.CONFLICT or answer.error_code.startswith("DUPLICATE"):
        return Unknown("the provider has a payout of this key already")
    if answer.error_code in NOT_TAKEN:
        return Failed(CODES[answer.error_code], provider_code=answer.error_code)
    if answer.error_code in BUSY:
        return NotSent(answer.error_code)
    return Rejected(answer.error_code)


def _found(order: PayoutOrder, answer: Asked) -> PayoutOutcome:
    """Return what a lookup says; that it was refused proves nothing."""
    if not isinstance(answer, XenditAnswer):
        return answer
    if answer.error_code:
        return Unknown(f"the provider refused the lookup: {answer.error_code}")
    return _described(order, answer.body)


def _described(order: PayoutOrder, body: Body) -> PayoutOutcome:
    ref, is_ours = text(body, "id"), body.get("reference_id") == order.reference
    if not (ref and is_ours and body.get("currency") == order.currency and is_whole(body, "amount", order)):
        return OTHER_MONEY
    match body.get("status"):
        case status if status in UNDER_WAY:
            return Accepted(ref)
        case "SUCCEEDED":
            return Paid(ref)
        case "REVERSED":
            return Returned(ref)
        case status if status in NOT_PAID:
            reason = text(body, "failure_code") or str(status)
            return Failed(CODES.get(reason, "provider_refused"), ref, reason)
        case _:
            return OTHER_STATUS
