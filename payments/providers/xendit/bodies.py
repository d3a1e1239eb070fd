"""What Xendit is sent."""

from collections.abc import Mapping
from typing import Any

from payments import sourcetypes
from payments.money import major_units
from payments.names import plain
from payments.providers.base import CardData, OnFile, Operation, Payer, Payment
from payments.providers.xendit.channels import CHANNELS

# As many characters as a statement has room for.
STATEMENT_CHARACTERS = 22
# The longest name and address that a customer may have.
CUSTOMER_CHARACTERS = 50
WANTS_CUSTOMER = frozenset(["bpi"])
REASONS = {
    "fraudulent": "FRAUDULENT",
    "duplicate": "DUPLICATE",
    "requested_by_customer": "REQUESTED_BY_CUSTOMER",
    "cancellation": "CANCELLATION",
}


def payment_request(payment: Payment, country: str) -> dict[str, Any]:
    """Return the body of a payment: taken, or held where it is not captured."""
    body: dict[str, Any] = {
        "reference_id": payment.reference,
        "type": "PAY",
        "country": country,
        "currency": payment.currency,
        "request_amount": major_units(payment.amount, payment.currency),
        "capture_method": "AUTOMATIC" if payment.capture else "MANUAL",
        "channel_code": CHANNELS[payment.source_type].code,
        "channel_properties": _channel_properties(payment),
        "description": payment.description,
        "customer": _customer(payment) if payment.source_type in WANTS_CUSTOMER else None,
    }
    if payment.payer_absent and payment.network_reference:
        # It publishes no member for the reference, and this word also for cards that come from another provider.
        body["metadata"] = {"network_reference": payment.network_reference}
        body["channel_properties"]["transaction_sequence"] = "SUBSEQUENT"
    return _filled(body)


def capture(operation: Operation) -> dict[str, Any]:
    """Return the body of a capture of all or a part of the hold."""
    return {"capture_amount": major_units(operation.amount, operation.currency)}


def refund(operation: Operation) -> dict[str, Any]:
    """Return the body of a refund of all or a part of the captured amount."""
    return {
        "payment_request_id": operation.payment_provider_ref,
        "reference_id": operation.reference,
        "currency": operation.currency,
        "amount": major_units(operation.amount, operation.currency),
        "reason": REASONS.get(operation.reason.strip().lower().replace(" ", "_"), "OTHERS"),
    }


def _channel_properties(payment: Payment) -> dict[str, Any]:
    # Ours both: where the payer is sent next is known only once Xendit was asked what they did.
    properties = {"success_return_url": payment.return_url, "failure_return_url": payment.return_url}
    if payment.source_type != sourcetypes.CARD:
        return properties
    return properties | _filled(
        {
            "card_details": _card_details(payment.card, payment.payer) if payment.card else None,
            "skip_three_ds": payment.payer_absent or not payment.authenticate,
            "card_on_file_type": _card_on_file_type(payment),
            "statement_descriptor": payment.statement_descriptor[:STATEMENT_CHARACTERS].strip(),
        }
    )


def _card_on_file_type(payment: Payment) -> str:
    if payment.on_file is not OnFile.KEPT:
        return ""
    if payment.recurring:
        return "RECURRING"
    return "MERCHANT_UNSCHEDULED" if payment.payer_absent else "CUSTOMER_UNSCHEDULED"


def _card_details(card: CardData, payer: Payer) -> dict[str, str]:
    given, family = _names(card.name or payer.name)
    return _filled(
        {
            "card_number": card.number,
            "expiry_month": card.exp_month.zfill(2),
            "expiry_year": card.exp_year,
            "cvn": card.cvc,
            "cardholder_first_name": given,
            "cardholder_last_name": family,
            "cardholder_email": payer.email,
            "cardholder_phone_number": payer.phone,
        }
    )


def _customer(payment: Payment) -> dict[str, Any] | None:
    """Return the payer, for a bank that requires it; None where we do not know their name."""
    payer = payment.payer
    given, family = (name[:CUSTOMER_CHARACTERS] for name in _names(payer.name))
    if not given:
        return None
    detail = _filled({"given_names": given, "surname": family})
    email = payer.email if len(payer.email) <= CUSTOMER_CHARACTERS else ""
    mobile = payer.phone if len(payer.phone) <= CUSTOMER_CHARACTERS else ""
    customer = {"type": "INDIVIDUAL", "reference_id": payment.reference, "individual_detail": detail}
    return _filled(customer | {"email": email, "mobile_number": mobile})


def _names(whole: str) -> tuple[str, str]:
    """Split a name in two, in the letters that Xendit takes: the last word is the family name, if it is not alone."""
    *given, family = plain(whole).split() or [""]
    return (" ".join(given), family) if given else (family, "")


def _filled(members: Mapping[str, Any]) -> dict[str, Any]:
    """Without the members that are empty, which Xendit takes for mistakes."""
    return {name: value for name, value in members.items() if value not in (None, "")}
