"""What the members of requests mean, by object and member; the member "" is the object itself."""

from payments import sourcetypes
from payments.api.fields import Schema
from payments.api.serializers import (
    AddressInput,
    CaptureInput,
    CardInput,
    ChargeInput,
    ChargeListQuery,
    ClockInput,
    EventListQuery,
    OwnerInput,
    PageQuery,
    RedirectInput,
    RefundInput,
    SourceInput,
    VerifyInput,
)
from payments.api.strict import Nothing, StrictSerializer

AMOUNT_WORDS = "in the currency's smallest unit: 18.89 in a currency with two decimals is 1889."


def words(text: str, **more: object) -> Schema:
    """What is added to a member's schema."""
    return {"description": text, **more}


_CARD_RULE = {
    "if": {"properties": {"type": {"const": sourcetypes.CARD}}, "required": ["type"]},
    "then": {"title": "Card", "required": ["card"]},
    "else": {"title": "Wallet, scheme or bank", "properties": {"card": False}},
}

OBJECTS: dict[type[StrictSerializer], dict[str, Schema]] = {
    Nothing: {"": words("An empty object. The body may be left out altogether.")},
    SourceInput: {
        "": words("A way to pay, given once. `card` is required for the type `card`, and for no other.", **_CARD_RULE),
        "type": words("The way to pay."),
        "card": words("The card as the payer typed it."),
        "redirect": words("Where the payer is sent back to, and who is told. Without it the payer ends here."),
        "owner": words("Whom it belongs to."),
        "metadata": words("Data of your own."),
    },
    CardInput: {
        "": words("A card as the payer typed it. It must not have expired."),
        "name": words("Full name of the cardholder."),
        "number": words("The card number: 16 digits with a right check digit.", format="card-number"),
        "exp_month": words("Expiry month, 1 or 2 digits."),
        "exp_year": words("Expiry year, 4 digits."),
        "cvc": words("The security code. It is passed on once and then destroyed."),
        "address_line1": words("First line of the card's address."),
        "address_line2": words("Second line of the card's address."),
        "address_city": words("City of the card's address."),
        "address_state": words("State or province of the card's address."),
        "address_country": words("Country of the card's address."),
        "address_zip": words("Postal code of the card's address."),
    },
    RedirectInput: {
        "": words("Absolute http(s) addresses; the payer is sent to exactly the one given."),
        "success": words("Where the payer is sent after paying."),
        "fail": words("Where the payer is sent otherwise."),
        "notify": words(
            "The address that is called on every change of a charge; https in live mode. Refused where nothing would "
            "ever be sent to it: with user information, a forbidden port, or an address of a private network."
        ),
    },
    OwnerInput: {
        "": words("Whom a source belongs to."),
        "billing": words("Billing address."),
        "shipping": words("Shipping address."),
        "name": words("Full name of the account holder."),
        "address_country": words("Country of the account holder."),
    },
    AddressInput: {
        "": words("A billing or shipping address."),
        "name": words("Who lives or works there."),
        "phone_number": words("Phone number."),
        "email": words("E-mail address."),
        "line1": words("First line of the address."),
        "line2": words("Second line of the address."),
        "city": words("City."),
        "state": words("State or province."),
        "country": words("Country."),
        "zip_code": words("Postal code."),
    },
    ChargeInput: {
        "": words("An order to take money, or to hold it."),
        "amount": words(f"How much, {AMOUNT_WORDS}"),
        "currency": words("ISO 4217 code, in any case."),
        "source": words("The ID of an unused source, or of one kept for a customer."),
        "description": words("What it is for."),
        "statement_descriptor": words("Text on the payer's statement; without it, your own applies."),
        "capture": words("`false` holds the money instead of taking it. Only a card can be held."),
        "cvc": words("The security code of a card that is kept for a customer. It is passed on and kept nowhere."),
        "require_auth": words("`false` skips 3-D Secure. No effect on a card that is kept for a customer."),
        "redirect_url": words("Where the payer is sent back to if the source has no `redirect`."),
        "metadata": words("Data of your own."),
    },
    CaptureInput: {
        "": words("How much of a hold to take."),
        "amount": words(f"How much, {AMOUNT_WORDS} Without it, all. The rest is released."),
    },
    RefundInput: {
        "": words("How much to give back."),
        "amount": words(f"How much, {AMOUNT_WORDS} Without it, all that is left."),
        "reason": words("Why, in your words."),
    },
    VerifyInput: {
        "": words("The one-time PIN that the payer got from the bank."),
        "confirmation_id": words("The `confirmation_id` of the charge's `action`."),
        "otp": words("The PIN."),
    },
    ClockInput: {
        "": words("How much time is to pass."),
        "advance_seconds": words("How many seconds: 86400 is a day."),
    },
    PageQuery: {
        "start_after": words("The ID after which the page begins: only older objects follow."),
        "limit": words("How many objects at most."),
    },
}
OBJECTS[ChargeListQuery] = OBJECTS[PageQuery] | {
    "status": words("Only charges that stand so."),
    "captured": words(
        "Only charges of which money was taken, or was not. A combination that no charge can show is refused."
    ),
    "authorized": words("Only charges that hold money now, or do not."),
    "customer": words("Only charges on the sources of the customer with this ID."),
    "source": words("Only charges on the source with this ID."),
    "created_at[gte]": words(
        "Only charges made at this ISO 8601 time or later, which is not in the future; without an offset it is UTC."
    ),
    "created_at[lt]": words(
        "Only charges made before this ISO 8601 time, later than `created_at[gte]`; without an offset it is UTC."
    ),
}
OBJECTS[EventListQuery] = OBJECTS[PageQuery] | {
    "type": words("Only events of this type."),
    "object": words(
        "Only events about the object with this ID, by their `sequence`; `start_after` must be one of them."
    ),
}
