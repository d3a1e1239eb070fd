"""What Adyen's answers mean. Whatever they say of another payment, amount or currency than ours is not believed."""

import re
from dataclasses import replace
from typing import Any

from payments.providers.adyen import bodies
from payments.providers.adyen.bodies import NETWORK_REFERENCE
from payments.providers.adyen.declines import declined
from payments.providers.base import (
    ActionRequired,
    Approved,
    CardFacts,
    Operation,
    Outcome,
    Payment,
    Pending,
    Unknown,
)
from payments.providers.failures.retry import advised, hours_advised

Answer = dict[str, Any]

REFUSED = frozenset(["Refused", "Cancelled", "Error"])
WAITING = frozenset(
    ["Received", "Pending", "RedirectShopper", "IdentifyShopper", "ChallengeShopper", "PresentToShopper"]
)
# By the first character of Adyen's words for it: "1 Matches".
CVC_RESULTS = {"1": "pass", "2": "fail", "5": "unavailable"}
# By Adyen's words for how a card is funded.
FUNDINGS = {
    "CREDIT": "credit",
    "CHARGE": "credit",
    # Adyen's own spelling.
    "DEFFERED_DEBIT": "debit",
    "DEBIT": "debit",
    "PREPAID": "prepaid",
    "PREPAID_RELOADABLE": "prepaid",
    "PREPAID_NONRELOADABLE": "prepaid",
}
COUNTRY = re.compile(r"[A-Z]{2}")
# What of an answer operators may read.
ADVICE = "merchantAdviceCode"
FACTS = ("refusalReasonRaw", ADVICE, "acquirerReference", "authCode", "avsResult", "threeDAuthenticated")
ANOTHER = Unknown("the provider names another payment or amount")


def created(answer: Answer, asked: Payment) -> Outcome:
    """Return the outcome of POST /payments."""
    return _outcome(answer, asked) if _fits(answer, asked) else ANOTHER


def continued(answer: Answer, asked: Payment) -> Outcome:
    """Return the outcome of POST /payments/details.

    What the payer brought may belong to another payment, and the answer need not say to which: then the webhook will.
    """
    if not _fits(answer, asked):
        return ANOTHER
    is_named = answer.get("merchantReference") == asked.reference
    return _outcome(answer, asked) if is_named else Pending(asked.provider_ref)


def modified(answer: Answer, operation: Operation, kind: str) -> Outcome:
    """Return the outcome of a capture, refund or reversal that was received; a webhook reports its end."""
    named: Answer = {
        "status": "received",
        "reference": bodies.name(kind, operation.reference),
        "paymentPspReference": operation.payment_provider_ref,
    }
    if kind != bodies.RELEASED:
        named["amount"] = bodies.amount(operation)
    provider_ref = _text(answer, "pspReference")
    fits = all(answer.get(name) == value for name, value in named.items())
    return Pending(provider_ref) if provider_ref and fits else ANOTHER


def ended(answer: Answer, payment_reference: str) -> Outcome:
    """Return the outcome of POST /cancels: Pending where it was received for this payment."""
    is_received = answer.get("status") == "received" and answer.get("paymentReference") == payment_reference
    return Pending(_text(answer, "pspReference")) if is_received else ANOTHER


def cvc_checked(additional: Answer) -> str:
    """Return the result of the CVC check, where the account is set to send it."""
    return CVC_RESULTS.get(_text(additional, "cvcResult")[:1], "unchecked")


def card_facts(additional: Answer) -> CardFacts | None:
    """Return what an answer's or a webhook's additional data says of the card; None where it says nothing."""
    country = _text(additional, "cardIssuingCountry") or _text(additional, "issuerCountry")
    said = CardFacts(
        issuing_bank=_text(additional, "cardIssuingBank"),
        country=country if COUNTRY.fullmatch(country) else "",
        funding=FUNDINGS.get(_text(additional, "fundingSource").upper(), ""),
    )
    return said if said != CardFacts() else None


def facts(additional: Answer) -> dict[str, Any]:
    """Return what operators may read of an answer's or a webhook's additional data."""
    return {name: additional[name] for name in FACTS if name in additional}


def _fits(answer: Answer, asked: Payment) -> bool:
    ours = {"merchantReference": asked.reference, "amount": bodies.amount(asked)}
    return all(answer.get(name, value) == value for name, value in ours.items())


def _text(answer: Answer, name: str) -> str:
    value = answer.get(name)
    return value if isinstance(value, str) else ""


def _object(answer: Answer, name: str) -> Answer:
    value = answer.get(name)
    return value if isinstance(value, dict) else {}


def _outcome(answer: Answer, asked: Payment) -> Outcome:
    result, provider_ref = _text(answer, "resultCode"), _text(answer, "pspReference")
    additional = _object(answer, "additionalData")
    if result == "Authorised" and provider_ref:
        response = {"resultCode": result, **facts(additional)}
        network_reference, card = _text(additional, NETWORK_REFERENCE), card_facts(additional)
        return Approved(provider_ref, asked.capture, cvc_checked(additional), response, network_reference, card)
    if result in REFUSED:
        number, advice = _text(answer, "refusalReasonCode"), advised(additional.get(ADVICE))
        refused = declined(result, number, provider_ref, cvc_checked(additional), advice)
        return replace(refused, card=card_facts(additional), retry_after_hours=hours_advised(additional.get(ADVICE)))
    if result in WAITING:
        return _waiting(_object(answer, "action"), provider_ref or asked.provider_ref)
    return Unknown(f"the provider answered {result}")


def _waiting(action: Answer, provider_ref: str) -> Outcome:
    """Return the payer's action; Pending where it is neither a page nor a code: a webhook reports the end."""
    match action:
        case {"type": "redirect", "url": str(url)} if action.get("method", "GET") == "GET":
            return ActionRequired(provider_ref, url)
        case {"type": "qrCode", "qrCodeData": str(code)}:
            return ActionRequired(provider_ref, "", qr=code)
        case _:
            return Pending(provider_ref)
