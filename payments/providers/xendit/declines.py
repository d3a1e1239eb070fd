"""Xendit's reasons for a payment that failed, in the codes of the contract."""

import re

from payments.providers.base import Declined
from payments.providers.failure_data import NOT_REACHED
from payments.providers.failures.retry import OF_XENDIT

GENERIC = "card_declined"
CODES = {
    "ACCOUNT_ACCESS_BLOCKED": GENERIC,
    "INVALID_ACCOUNT_DETAILS": GENERIC,
    "ACCOUNT_NOT_ACTIVATED": GENERIC,
    "PAYMENT_ATTEMPT_COUNTS_EXCEEDED": GENERIC,
    "PAYMENT_AMOUNT_LIMITS_EXCEEDED": GENERIC,
    "CARD_DECLINED": GENERIC,
    "DECLINED_BY_ISSUER": GENERIC,
    "DECLINED_BY_PROCESSOR": GENERIC,
    "INACTIVE_OR_UNAUTHORIZED_CARD": GENERIC,
    "SUSPECTED_FRAUDULENT": GENERIC,
    "INVALID_PAYMENT_DETAILS": GENERIC,
    "INSUFFICIENT_BALANCE": "insufficient_funds",
    "EXPIRED_CARD": "expired_card",
    "CARD_EXPIRED": "expired_card",
    "INVALID_CVV": "incorrect_cvc",
    "STOLEN_CARD": "stolen_card",
    "USER_DEVICE_UNREACHABLE": "authentication_failed",
    "EXPIRED_OTP": "authentication_failed",
    "INVALID_OTP": "authentication_failed",
    "OTP_ATTEMPT_COUNTS_EXCEEDED": "authentication_failed",
    "AUTHENTICATION_FAILED": "authentication_failed",
    "USER_DECLINED_PAYMENT": "payer_cancelled",
    "USER_DID_NOT_AUTHORIZE": "action_expired",
    "PAYMENT_REQUEST_EXPIRED": "action_expired",
    "CHANNEL_UNAVAILABLE": NOT_REACHED,
    "ISSUER_UNAVAILABLE": NOT_REACHED,
    "PROCESSOR_ERROR": "processing_error",
    "SERVER_ERROR": "processing_error",
    "PARTNER_TIMEOUT_ERROR": "processing_error",
    "TIMEOUT_ERROR": "processing_error",
    "FAILURE_DETAILS_UNAVAILABLE": "processing_error",
    "INVALID_MERCHANT_SETTINGS": "processing_error",
    "INVALID_MERCHANT_CREDENTIALS": "processing_error",
    "INVALID_TOKEN": "processing_error",  # nosec B105 # a reason, and no token
    "CAPTURE_AMOUNT_EXCEEDED": "processing_error",
}
# Faults of Xendit's side before anybody's money was touched. A time-out of its partner is none: money may have moved.
RETRYABLE = frozenset(["CHANNEL_UNAVAILABLE", "ISSUER_UNAVAILABLE", "PROCESSOR_ERROR"])
# The answer must teach nothing to people who test stolen cards.
UNSAID = frozenset(["SUSPECTED_FRAUDULENT"])
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def declined(failure_code: object, provider_ref: str = "") -> Declined:
    """Return the decline for this reason; an unknown reason counts as a declined card."""
    known = failure_code if isinstance(failure_code, str) and _CODE.fullmatch(failure_code) else ""
    return Declined(
        code=CODES.get(known, GENERIC),
        provider_ref=provider_ref,
        provider_code="CARD_DECLINED" if known in UNSAID or not known else known,
        cvc_checked="fail" if known == "INVALID_CVV" else "unchecked",
        retryable=known in RETRYABLE,
        retry=OF_XENDIT.get(known),
    )
