"""What a payer may read when a charge fails: `failure_data` of the contract, without the provider's raw reason."""

from typing import Any

from payments.providers.base import Declined
from payments.providers.failures.retry import OF_OURS

# A charge that fails because its provider could not be reached.
NOT_REACHED = "provider_unavailable"
ANOTHER_CARD = "Use another card or another way to pay."
REASONS = {
    "card_declined": ("The card was declined.", f"Contact the card's bank, or: {ANOTHER_CARD}"),
    "insufficient_funds": ("There is not enough money on the account.", ANOTHER_CARD),
    # A payer must not learn that a card was reported lost or stolen.
    "lost_card": ("The card was declined.", ANOTHER_CARD),
    "stolen_card": ("The card was declined.", ANOTHER_CARD),
    "expired_card": ("The card has expired.", "Check the expiry date, or use another card."),
    "incorrect_cvc": ("The card's security code is wrong.", "Check the code and pay again."),
    "processing_error": ("The payment could not be processed.", "Pay again in a few minutes."),
    "authentication_required": (
        "The bank asks that the payer be authenticated.",
        "Pay again with authentication.",
    ),
    "authentication_failed": (
        "The payer could not be authenticated.",
        "Pay again, or use another way to pay.",
    ),
    "payer_cancelled": ("The payer cancelled the payment.", "Pay again when ready."),
    "action_expired": (
        "The payer did not confirm the payment in time.",
        "Pay again and confirm within an hour.",
    ),
    NOT_REACHED: ("The payment provider could not be reached.", "Pay again in a few minutes."),
}


def failure_data(declined: Declined) -> dict[str, Any]:
    """Return the `failure_data` of a decline; an unknown code counts as `card_declined`."""
    code = declined.code if declined.code in REASONS else "card_declined"
    reason, next_steps = REASONS[code]
    return {
        "code": code,
        "reason": reason,
        "next_steps": next_steps,
        "retry": declined.retry or OF_OURS[code],
        **({"retry_after_hours": declined.retry_after_hours} if declined.retry_after_hours else {}),
        "provider_response": {
            "code": declined.provider_code or code,
            "message": declined.message or reason,
            "logref": declined.provider_ref,
            "links": [],
        },
    }
