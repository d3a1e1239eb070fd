"""Why Adyen refused a payment, as the contract says it: by number in its answers, by words in its webhooks."""

import secrets
import string
from dataclasses import dataclass

from payments.providers.base import Declined
from payments.providers.failures.retry import OF_ADYEN, Retry


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason of Adyen's: its number and words, our code, and whether it is a fault of the acquirer or the issuer."""

    number: str
    words: str
    code: str = "card_declined"
    passing: bool = False


GENERIC = Refusal("2", "Refused")
# What thieves must not learn, and payers need not: reported as any other refusal, in the provider's words too.
FRAUD = frozenset(["14", "20", "22", "31"])
REFUSALS = (
    GENERIC,
    Refusal("3", "Referral"),
    Refusal("4", "Acquirer Error", "processing_error", passing=True),
    Refusal("5", "Blocked Card"),
    Refusal("6", "Expired Card", "expired_card"),
    Refusal("7", "Invalid Amount", "processing_error"),
    Refusal("8", "Invalid Card Number"),
    Refusal("9", "Issuer Unavailable", "processing_error", passing=True),
    Refusal("10", "Not supported"),
    Refusal("11", "3D Not Authenticated", "authentication_failed"),
    Refusal("12", "Not enough balance", "insufficient_funds"),
    Refusal("14", "Acquirer Fraud"),
    Refusal("15", "Cancelled", "payer_cancelled"),
    Refusal("16", "Shopper Cancelled", "payer_cancelled"),
    Refusal("17", "Invalid Pin", "authentication_failed"),
    Refusal("18", "Pin tries exceeded", "authentication_failed"),
    Refusal("19", "Pin validation not possible", "authentication_failed"),
    Refusal("20", "FRAUD"),
    Refusal("21", "Not Submitted", "processing_error"),
    Refusal("22", "FRAUD-CANCELLED"),
    Refusal("23", "Transaction Not Permitted"),
    Refusal("24", "CVC Declined", "incorrect_cvc"),
    Refusal("25", "Restricted Card"),
    Refusal("26", "Revocation Of Auth"),
    Refusal("27", "Declined Non Generic"),
    Refusal("28", "Withdrawal amount exceeded", "insufficient_funds"),
    Refusal("29", "Withdrawal count exceeded"),
    Refusal("31", "Issuer Suspected Fraud"),
    Refusal("32", "AVS Declined"),
    Refusal("33", "Card requires online pin", "authentication_required"),
    Refusal("34", "No checking account available on Card"),
    Refusal("35", "No savings account available on Card"),
    Refusal("36", "Mobile pin required", "authentication_required"),
    Refusal("38", "Authentication required", "authentication_required"),
    Refusal("39", "RReq not received from DS", "authentication_failed"),
    Refusal("42", "3DS Authentication Error", "authentication_failed"),
    Refusal("46", "Transaction blocked by Adyen to prevent excessive retry fees"),
)
BY_NUMBER = {refusal.number: refusal for refusal in REFUSALS}
BY_WORDS = {refusal.words.casefold(): refusal for refusal in REFUSALS}
REFERENCE_CHARACTERS = string.ascii_uppercase + string.digits
# Where an answer has no number, or one that is not in the list.
CODES = {"Cancelled": "payer_cancelled", "Error": "processing_error"}


def new_psp_reference() -> str:
    """Return a reference of the form that Adyen gives: 16 capital letters and digits."""
    return "".join(secrets.choice(REFERENCE_CHARACTERS) for _ in range(16))


def declined(result: str, number: str, provider_ref: str, cvc_checked: str, advice: Retry | None = None) -> Declined:
    """Return the decline for an answer's result and reason number; `advice` is the card network's, if it gave any."""
    unlisted = Refusal(number or result, result, CODES.get(result, GENERIC.code))
    return _declined(BY_NUMBER.get(number, unlisted), provider_ref, cvc_checked, advice)


def declined_by_words(words: str, provider_ref: str, cvc_checked: str, advice: Retry | None = None) -> Declined:
    """Return the decline for the reason text of a webhook."""
    return _declined(BY_WORDS.get(words.casefold(), GENERIC), provider_ref, cvc_checked, advice)


def _declined(refusal: Refusal, provider_ref: str, cvc_checked: str, advice: Retry | None) -> Declined:
    shown = GENERIC if refusal.number in FRAUD else refusal
    retry = advice or OF_ADYEN.get(shown.number)
    named = (shown.code, provider_ref, shown.number, shown.words, cvc_checked)
    return Declined(*named, retryable=shown.passing, retry=retry)
