"""Why Adyen refused a payment, as the contract says it: by number in its answers, by words in its webhooks."""

import secrets
import string
from dataclasses import dataclass

from payments.providers.base import Declined
from payments.providers.failures.retry import OF_ADYEN, Retry


@dataclass(frozen=True, slots=True)
class AdyenRefusal:
    """A reason of Adyen's: its number and words, our code, and whether it is a fault of the acquirer or the issuer."""

    number: str
    words: str
    code: str = "card_declined"
    passing: bool = False


GENERIC = AdyenRefusal("2", "Refused")
# What thieves must not learn, and payers need not: reported as any other refusal, in the provider's words too.
FRAUD = frozenset(["14", "20", "22", "31"])
REFUSALS = (
    GENERIC,
    AdyenRefusal("3", "Referral"),
    AdyenRefusal("4", "Acquirer Error", "processing_error", passing=True),
    AdyenRefusal("5", "Blocked Card"),
    AdyenRefusal("6", "Expired Card", "expired_card"),
    AdyenRefusal("7", "Invalid Amount", "processing_error"),
    AdyenRefusal("8", "Invalid Card Number"),
    AdyenRefusal("9", "Issuer Unavailable", "processing_error", passing=True),
    AdyenRefusal("10", "Not supported"),
    AdyenRefusal("11", "3D Not Authenticated", "authentication_failed"),
    AdyenRefusal("12", "Not enough balance", "insufficient_funds"),
    AdyenRefusal("14", "Acquirer Fraud"),
    AdyenRefusal("15", "Cancelled", "payer_cancelled"),
    AdyenRefusal("16", "Shopper Cancelled", "payer_cancelled"),
    AdyenRefusal("17", "Invalid Pin", "authentication_failed"),
    AdyenRefusal("18", "Pin tries exceeded", "authentication_failed"),
    AdyenRefusal("19", "Pin validation not possible", "authentication_failed"),
    AdyenRefusal("20", "FRAUD"),
    AdyenRefusal("21", "Not Submitted", "processing_error"),
    AdyenRefusal("22", "FRAUD-CANCELLED"),
    AdyenRefusal("23", "Transaction Not Permitted"),
    AdyenRefusal("24", "CVC Declined", "incorrect_cvc"),
    AdyenRefusal("25", "Restricted Card"),
    AdyenRefusal("26", "Revocation Of Auth"),
    AdyenRefusal("27", "Declined Non Generic"),
    AdyenRefusal("28", "Withdrawal amount exceeded", "insufficient_funds"),
    AdyenRefusal("29", "Withdrawal count exceeded"),
    AdyenRefusal("31", "Issuer Suspected Fraud"),
    AdyenRefusal("32", "AVS Declined"),
    AdyenRefusal("33", "Card requires online pin", "authentication_required"),
    AdyenRefusal("34", "No checking account available on Card"),
    AdyenRefusal("35", "No savings account available on Card"),
    AdyenRefusal("36", "Mobile pin required", "authentication_required"),
    AdyenRefusal("38", "Authentication required", "authentication_required"),
    AdyenRefusal("39", "RReq not received from DS", "authentication_failed"),
    AdyenRefusal("42", "3DS Authentication Error", "authentication_failed"),
    AdyenRefusal("46", "Transaction blocked by Adyen to prevent excessive retry fees"),
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
    unlisted = AdyenRefusal(number or result, result, CODES.get(result, GENERIC.code))
    return _declined(BY_NUMBER.get(number, unlisted), provider_ref, cvc_checked, advice)


def declined_by_words(words: str, provider_ref: str, cvc_checked: str, advice: Retry | None = None) -> Declined:
    """Return the decline for the reason text of a webhook."""
    return _declined(BY_WORDS.get(words.casefold(), GENERIC), provider_ref, cvc_checked, advice)


def _declined(refusal: AdyenRefusal, provider_ref: str, cvc_checked: str, advice: Retry | None) -> Declined:
    shown = GENERIC if refusal.number in FRAUD else refusal
    retry = advice or OF_ADYEN.get(shown.number)
    named = (shown.code, provider_ref, shown.number, shown.words, cvc_checked)
    return Declined(*named, retryable=shown.passing, retry=retry)
