"""The bodies of requests about sources and charges (contract, section 3).

The docstring of a class and the `help_text` of its fields are their descriptions in the OpenAPI document.
"""

from collections.abc import Mapping
from typing import Any

from payments import clock, sourcetypes
from payments.api.validation.fields import (
    MONTH,
    Amount,
    CardNumber,
    Currency,
    Digits,
    Email,
    NameSafe,
    NotifyUrl,
    OneOf,
    PlainText,
    StrictBoolean,
    StrictInteger,
    StrictString,
    Url,
)
from payments.api.validation.metadata import MEANING, Metadata
from payments.api.validation.strict import Errors, StrictSerializer
from payments.domain.maintenance import caused_events
from payments.domain.maintenance.test_clock import LONGEST_SECONDS
from payments.models import Charge
from payments.money import DEFAULT_CURRENCY

DEFAULT_REFUND_REASON = "requested_by_customer"
AMOUNT = "How much, in the currency's smallest unit: 18.89 in a currency with two decimals is 1889."


class CardInput(StrictSerializer):
    """A card as the payer typed it. It must not have expired."""

    default_error_messages = {"card_expired": "This card has expired."}

    name = NameSafe(max_length=50, help_text="Full name of the cardholder.")
    number = CardNumber(help_text="The card number: 16 digits with a right check digit.")
    exp_month = StrictString(max_length=2, pattern=MONTH, help_text="Expiry month, 1 or 2 digits.")
    exp_year = Digits(
        min_length=4,
        max_length=4,
        error_messages=dict.fromkeys(
            ("too_short", "too_long"), "This value must be the year in 4 digits: 2034, not 34."
        ),
        help_text="Expiry year, 4 digits.",
    )
    cvc = Digits(
        min_length=3, max_length=4, help_text="The security code. It is sent to the provider once and then destroyed."
    )
    address_line1 = NameSafe(max_length=255, required=False, help_text="First line of the card's address.")
    address_line2 = NameSafe(max_length=255, required=False, help_text="Second line of the card's address.")
    address_city = NameSafe(max_length=255, required=False, help_text="City of the card's address.")
    address_state = NameSafe(max_length=255, required=False, help_text="State or province of the card's address.")
    address_country = NameSafe(max_length=255, required=False, help_text="Country of the card's address.")
    address_zip = NameSafe(max_length=50, required=False, help_text="Postal code of the card's address.")

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        """Refuse a card whose last month (UTC) is over."""
        if "exp_month" in errors or "exp_year" in errors:
            return
        today = clock.now()
        year, month = int(data["exp_year"]), int(data["exp_month"])
        if (year, month) < (today.year, today.month):
            errors["exp_year" if year < today.year else "exp_month"] = [self.fault("card_expired")]


class RedirectInput(StrictSerializer):
    """Absolute http(s) URLs; the payer is sent to exactly the one given."""

    success = Url(help_text="Where the payer is sent after paying.")
    fail = Url(help_text="Where the payer is sent otherwise.")  # type: ignore[assignment]
    notify = NotifyUrl(
        required=False,
        help_text="The URL that is called on every change of a charge; https in live mode. A URL to which nothing "
        "would ever be sent is refused: one with user information, a forbidden port, or a private network's address.",
    )


class AddressInput(StrictSerializer):
    """A billing or shipping address."""

    name = NameSafe(max_length=50, help_text="Name of the person or company at this address.")
    phone_number = NameSafe(max_length=50, required=False, help_text="Phone number.")
    email = Email(required=False, blank_is_absent=True, help_text="E-mail address.")
    line1 = NameSafe(max_length=255, required=False, help_text="First line of the address.")
    line2 = NameSafe(max_length=255, required=False, help_text="Second line of the address.")
    city = NameSafe(max_length=100, required=False, help_text="City.")
    state = NameSafe(max_length=50, required=False, help_text="State or province.")
    country = NameSafe(max_length=50, required=False, help_text="Country.")
    zip_code = NameSafe(max_length=50, required=False, help_text="Postal code.")


class OwnerInput(StrictSerializer):
    """The owner of a source."""

    billing = AddressInput(required=False, help_text="Billing address.")
    shipping = AddressInput(required=False, help_text="Shipping address.")
    name = StrictString(min_length=0, max_length=50, required=False, help_text="Full name of the account holder.")
    address_country = NameSafe(max_length=50, required=False, help_text="Country of the account holder.")


class SourceInput(StrictSerializer):
    """A way to pay, given once. `card` is required for the type `card`, and refused for any other."""

    default_error_messages = {"not_allowed": "Only a source of type card has this."}
    ignored = frozenset({"currency"})
    rules = {
        "if": {"properties": {"type": {"const": sourcetypes.CARD}}, "required": ["type"]},
        "then": {"title": "Card", "required": ["card"], "properties": {"card": {"type": "object"}}},
        "else": {"title": "Wallet, scheme or bank", "properties": {"card": {"type": "null"}}},
    }

    type = OneOf(sourcetypes.NAMES, help_text="The way to pay.")
    card = CardInput(required=False, help_text="The card as the payer typed it.")
    redirect = RedirectInput(
        required=False,
        help_text="Where the payer is sent back to, and the URL to notify. Without it the payer ends on kaha's page.",
    )
    owner = OwnerInput(required=False, help_text="The owner of the source.")
    metadata = Metadata(required=False, help_text=MEANING)

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        if "type" in errors:
            return
        has_card = data.get("card") is not None
        if has_card and data["type"] != sourcetypes.CARD:
            errors["card"] = [self.fault("not_allowed")]
        if not has_card and data["type"] == sourcetypes.CARD:
            errors["card"] = [self.fault("missing")]


class ChargeInput(StrictSerializer):
    """An order to take money, or to hold it."""

    amount = Amount(help_text=AMOUNT)
    currency = Currency(default=DEFAULT_CURRENCY, help_text="ISO 4217 code of three letters, in any case.")
    source = PlainText(  # type: ignore[assignment]
        max_length=255, help_text="The ID of an unused source, or of one kept for a customer."
    )
    description = StrictString(max_length=255, help_text="What the charge is for.")
    statement_descriptor = PlainText(
        min_length=3,
        max_length=100,
        required=False,
        help_text="Text on the payer's statement. Without it, the merchant's own applies.",
    )
    capture = StrictBoolean(
        default=True, help_text="`false` holds the money instead of taking it. Only a card can be held."
    )
    cvc = Digits(
        min_length=3,
        max_length=4,
        required=False,
        help_text="The security code of a card that is kept for a customer. It is sent to the provider and not stored.",
    )
    require_auth = StrictBoolean(
        default=True,
        help_text="`false` skips 3-D Secure. No effect on a kept card as long as `initiator` is `merchant`.",
    )
    initiator = OneOf(
        Charge.Initiator.values,
        required=False,
        help_text="Who asks for this charge of a kept source: `merchant` (the default), without the payer, or "
        "`customer`, who is at the checkout and may be asked again. Any other source is charged by the customer. In "
        "test mode a kept card whose owner never paid with it is declined where `merchant` is stated.",
    )
    schedule = OneOf(
        Charge.Schedule.values,
        required=False,
        help_text="Whether the charge is one of a series at fixed times (`recurring`) or not (`unscheduled`, the "
        "default). A series needs a source that is kept for a customer.",
    )
    redirect_url = Url(required=False, help_text="Where the payer is sent back to if the source has no `redirect`.")
    metadata = Metadata(required=False, help_text=MEANING)


class CaptureInput(StrictSerializer):
    """How much of a hold to capture."""

    amount = Amount(
        required=False,
        help_text=f"{AMOUNT} Without it, all that is held. The rest is released.",
    )


class RefundInput(StrictSerializer):
    """How much of a charge to refund."""

    amount = Amount(required=False, help_text=f"{AMOUNT} Without it, all that is left.")
    reason = StrictString(
        max_length=255, blank_is_absent=True, default=DEFAULT_REFUND_REASON, help_text="Why, in the merchant's words."
    )


class VerifyInput(StrictSerializer):
    """The one-time PIN that the payer got from the bank."""

    confirmation_id = PlainText(
        min_length=5, max_length=255, help_text="The `confirmation_id` of the charge's `action`."
    )
    otp = StrictString(max_length=10, help_text="The PIN.")


class CauseInput(StrictSerializer):
    """The event that a bank or a person is to cause."""

    type = OneOf(list(caused_events.CAUSES), help_text="The type of event.")


class ClockInput(StrictSerializer):
    """How much time is to pass."""

    advance_seconds = StrictInteger(
        min_value=1, max_value=LONGEST_SECONDS, help_text="How many seconds: 86400 is a day."
    )
