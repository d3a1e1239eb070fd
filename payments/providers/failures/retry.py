"""Whether a declined payment may be tried again: the providers' and the networks' codes in one table, with sources.

A card network charges for each try after a decline that is final. `NEVER` is therefore said of nothing else; a decline
that hides a suspicion of fraud has the advice of any other.
"""

from dataclasses import dataclass
from enum import StrEnum


class Retry(StrEnum):
    """What a merchant should do after a decline."""

    NEVER = "never"
    LATER = "later"
    NEW_CARD = "new_card"
    AUTHENTICATE = "authenticate"


@dataclass(frozen=True, slots=True)
class Codes:
    """The advice for some codes of one list, and where it comes from."""

    codes: str
    retry: Retry
    source: str


# Pages of the providers' documentation, and the categories by which Visa charges for tries (since 2021).
REFUSALS = "Adyen, Refusal reasons"
FAILURES = "Xendit, Failure codes of payments"
ADVICE = "Mastercard, Merchant advice codes (Adyen and Xendit, Raw responses)"
FINAL = "Visa category 1, the issuer never approves"
NOT_NOW = "Visa category 2, the issuer cannot approve now"
WRONG_DATA = "Visa category 3, the issuer cannot approve with these details"
UNSAID = "Visa category 4, no reason"
ADYEN = (
    Codes("5 23 26", Retry.NEVER, f"{REFUSALS}; {FINAL}: 04, 41 and 43, 57, R0 to R3"),
    Codes("46", Retry.NEVER, f"{REFUSALS}: Adyen blocks it because of the networks' fees for tries"),
    Codes("6 8 24 32", Retry.NEW_CARD, f"{REFUSALS}; {WRONG_DATA}: 54, 14, N7, 82"),
    Codes("10 25 34 35", Retry.NEW_CARD, f"{REFUSALS}: this card does not take such payments"),
    Codes("11 17 19 33 36 38 39 42", Retry.AUTHENTICATE, f"{REFUSALS}; {WRONG_DATA}: 1A, 55, 70"),
    Codes("12 18 28 29", Retry.LATER, f"{REFUSALS}; {NOT_NOW}: 51, 75, 61, 65"),
    Codes("4 7 9 21", Retry.LATER, f"{REFUSALS}: a fault of a system; {NOT_NOW}: 91, 96"),
    Codes("2 3 14 15 16 20 22 27 31", Retry.LATER, f"{REFUSALS}; {UNSAID}: 05"),
)
XENDIT = (
    Codes("STOLEN_CARD", Retry.NEVER, f"{FAILURES}; {FINAL}: 43"),
    Codes("EXPIRED_CARD CARD_EXPIRED INVALID_CVV", Retry.NEW_CARD, f"{FAILURES}; {WRONG_DATA}: 54, N7"),
    Codes("INVALID_PAYMENT_DETAILS INVALID_ACCOUNT_DETAILS", Retry.NEW_CARD, f"{FAILURES}; {WRONG_DATA}: 14"),
    Codes("ACCOUNT_ACCESS_BLOCKED ACCOUNT_NOT_ACTIVATED", Retry.NEW_CARD, f"{FAILURES}: of an account"),
    Codes("INACTIVE_OR_UNAUTHORIZED_CARD", Retry.NEW_CARD, f"{FAILURES}: the bank has not opened it for this"),
    Codes("AUTHENTICATION_FAILED USER_DEVICE_UNREACHABLE", Retry.AUTHENTICATE, f"{FAILURES}; {WRONG_DATA}: 1A"),
    Codes("EXPIRED_OTP INVALID_OTP OTP_ATTEMPT_COUNTS_EXCEEDED", Retry.AUTHENTICATE, f"{FAILURES}; {WRONG_DATA}: 55"),
    Codes("INSUFFICIENT_BALANCE PAYMENT_AMOUNT_LIMITS_EXCEEDED", Retry.LATER, f"{FAILURES}; {NOT_NOW}: 51, 61"),
    Codes("PAYMENT_ATTEMPT_COUNTS_EXCEEDED", Retry.LATER, f"{FAILURES}; {NOT_NOW}: 65"),
    Codes("CARD_DECLINED DECLINED_BY_ISSUER DECLINED_BY_PROCESSOR", Retry.LATER, f"{FAILURES}; {UNSAID}: 05"),
    Codes("SUSPECTED_FRAUDULENT", Retry.LATER, f"{FAILURES}; {NOT_NOW}: 59"),
    Codes("USER_DECLINED_PAYMENT USER_DID_NOT_AUTHORIZE PAYMENT_REQUEST_EXPIRED", Retry.LATER, f"{FAILURES}: a payer"),
    Codes("CHANNEL_UNAVAILABLE ISSUER_UNAVAILABLE PROCESSOR_ERROR SERVER_ERROR", Retry.LATER, f"{FAILURES}: a fault"),
    Codes("PARTNER_TIMEOUT_ERROR TIMEOUT_ERROR FAILURE_DETAILS_UNAVAILABLE", Retry.LATER, f"{FAILURES}: a fault"),
    Codes("INVALID_MERCHANT_SETTINGS INVALID_MERCHANT_CREDENTIALS", Retry.LATER, f"{FAILURES}: the account"),
    Codes("INVALID_TOKEN CAPTURE_AMOUNT_EXCEEDED", Retry.LATER, f"{FAILURES}: our request"),
)
NETWORK = (
    Codes("03 21 42", Retry.NEVER, f"{ADVICE}: do not try again, payment cancelled, sanctions"),
    Codes("01 40 41", Retry.NEW_CARD, f"{ADVICE}: new details, a prepaid card, a card for one payment"),
    Codes("02 24 25 26 27 28 29 30 43", Retry.LATER, f"{ADVICE}: try again, after an hour to ten days"),
)
# How long to wait after some of the networks' codes, as the same list says.
AFTER_HOURS = {"24": 1, "25": 24, "26": 48, "27": 96, "28": 144, "29": 192, "30": 240}
# What the simulator's declines mean, and those of a provider's code that is in no list.
OURS = (
    Codes("lost_card stolen_card", Retry.NEVER, f"{FINAL}: 41, 43"),
    Codes("expired_card incorrect_cvc", Retry.NEW_CARD, f"{WRONG_DATA}: 54, N7"),
    Codes("authentication_required authentication_failed", Retry.AUTHENTICATE, f"{WRONG_DATA}: 1A, 55"),
    Codes("insufficient_funds", Retry.LATER, f"{NOT_NOW}: 51"),
    Codes("card_declined", Retry.LATER, f"{UNSAID}: 05"),
    Codes("processing_error provider_unavailable", Retry.LATER, f"{NOT_NOW}: 91, 96"),
    Codes("payer_cancelled action_expired", Retry.LATER, "the payer, who may be ready another time"),
)


def _by_code(lines: tuple[Codes, ...]) -> dict[str, Retry]:
    return {code: line.retry for line in lines for code in line.codes.split()}


OF_ADYEN, OF_XENDIT, OF_NETWORK, OF_OURS = map(_by_code, (ADYEN, XENDIT, NETWORK, OURS))


def advised(network_code: object) -> Retry | None:
    """Return what a card network advises by its code, with or without words after it; None for any other value."""
    return OF_NETWORK.get(network_code[:2]) if isinstance(network_code, str) else None


def hours_advised(network_code: object) -> int:
    """Return for how many hours a card network advises to wait before the next try; 0 where it names no time."""
    return AFTER_HOURS.get(network_code[:2], 0) if isinstance(network_code, str) else 0
