"""Why a payment failed and what to do, as its payer reads it, or staff reads it aloud."""

from django.utils.translation import gettext_lazy as _

from payments.providers.failure_data import NOT_REACHED

PAY_OTHERWISE = _("Pay with another card or in another way.")
DECLINED = _("Your bank declined the card.")
FAILURES = {
    "card_declined": (DECLINED, _("Contact your bank, or pay with another card or in another way.")),
    "insufficient_funds": (_("There is not enough money on your account."), PAY_OTHERWISE),
    # A payer must not learn that a card was reported lost or stolen.
    "lost_card": (DECLINED, PAY_OTHERWISE),
    "stolen_card": (DECLINED, PAY_OTHERWISE),
    "expired_card": (_("Your card has expired."), _("Check the expiry date, or use another card.")),
    "incorrect_cvc": (_("The security code of your card is wrong."), _("Check the code and pay again.")),
    "processing_error": (_("Your payment could not be processed."), _("Pay again in a few minutes.")),
    "authentication_required": (
        _("Your bank wants you to confirm the payment."),
        _("Pay again and confirm the payment with your bank."),
    ),
    "authentication_failed": (
        _("Your bank could not confirm that it was you."),
        _("Pay again, or pay in another way."),
    ),
    "payer_cancelled": (_("You cancelled the payment."), _("Pay again when you are ready.")),
    "action_expired": (_("You did not confirm the payment in time."), _("Pay again and confirm within an hour.")),
    NOT_REACHED: (_("Your bank or wallet could not be reached."), _("Pay again in a few minutes.")),
}
TRY_ANOTHER_CARD = _("Try again, or use another card.")
# Of a card that is only checked, where `FAILURES` speaks of a payment.
CHECK_FAILURES = {
    "processing_error": _("Your card could not be checked."),
    "authentication_required": _("Your bank wants you to confirm the card."),
    "payer_cancelled": _("You did not confirm the card."),
    "action_expired": _("You did not confirm the card in time."),
}
