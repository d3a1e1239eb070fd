"""The bodies of requests about checkout sessions, payment links and payment requests (checkout law, section 2)."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pycountry
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.fields import Field

from payments import clock, sourcetypes
from payments.api.validation.fields import (
    Amount,
    Currency,
    Email,
    OneOf,
    PlainText,
    Schema,
    StrictBoolean,
    StrictField,
    StrictInteger,
    StrictString,
    Url,
)
from payments.api.validation.metadata import MEANING, Metadata
from payments.api.validation.strict import Errors, Strict, StrictSerializer
from payments.models import AMOUNT_MAX, Checkout
from payments.rendering.brand import COLOUR
from payments.rendering.objects.checkout import total_of

ITEMS_MAX = 100
QUANTITY_MAX = 1_000_000
EARLIEST, LATEST = timedelta(minutes=30), timedelta(hours=24)
COUNTRIES = frozenset(country.alpha_2 for country in pycountry.countries)


class Several(StrictField):
    """A list of `at_least` to `at_most` values, each of which `one` checks."""

    default_error_messages = {
        "invalid_type": "This value must be a list.",
        "too_few": "This list must have at least {at_least} entries.",
        "too_many": "This list must have at most {at_most} entries.",
        "repeated": "This value stands in the list already.",
    }

    def __init__(self, one: Strict, *, at_most: int, at_least: int = 1, distinct: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.one, self.at_least, self.at_most, self.distinct = one, at_least, at_most, distinct

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("invalid_type")
        if len(data) < self.at_least:
            self.fail("too_few", at_least=self.at_least)
        if len(data) > self.at_most:
            self.fail("too_many", at_most=self.at_most)
        return self._checked(data)

    def _checked(self, values: list[Any]) -> list[Any]:
        found: list[Any] = []
        errors: dict[str, Any] = {}
        for number, value in enumerate(values):
            try:
                found.append(self.one.run_validation(value))
            except ValidationError as error:
                errors[str(number)] = error.detail
        again = [number for number, value in enumerate(found) if self.distinct and value in found[:number]]
        repeated = ErrorDetail(str(self.error_messages["repeated"]), code="repeated")
        if errors := errors or {str(number): [repeated] for number in again}:
            raise ValidationError(errors)
        return found

    def schema(self) -> Schema:
        one: Any = self.one
        form: Schema = {"type": "array", "minItems": self.at_least, "maxItems": self.at_most}
        return form | ({"items": one.schema()} if hasattr(one, "schema") else {}) | {"uniqueItems": self.distinct}


class HttpsUrl(Url):
    """An https URL of a picture."""

    default_error_messages = {"not_https": "This value must be an https URL without user name and password."}

    def to_internal_value(self, data: Any) -> str:
        url: str = super().to_internal_value(data)
        parts = urlsplit(url)
        if parts.scheme != "https" or "@" in parts.netloc:
            self.fail("not_https")
        return url


class PageUrl(Url):
    """An http or https URL to which the payer's browser is sent, without user name and password."""

    default_error_messages = {"user_info": "This value must have no user name and password."}

    def to_internal_value(self, data: Any) -> str:
        # The braces of a placeholder are not characters of URLs.
        url: str = super().to_internal_value(str(data).replace(SESSION_ID, "0") if isinstance(data, str) else data)
        if "@" in urlsplit(url).netloc:
            self.fail("user_info")
        if len(data) > self.max_length:
            self.fail("too_long", max_length=self.max_length)
        return str(data)

    def schema(self) -> Schema:
        # With a placeholder it is no URI.
        return super().schema() | {"format": "uri-template"}


# In a success_url, it stands for the ID of the session.
SESSION_ID = "{CHECKOUT_SESSION_ID}"


class SentCurrency(Currency):
    """An ISO 4217 code in any case, returned as it was sent."""

    def to_internal_value(self, data: Any) -> str:
        super().to_internal_value(data)
        return str(data)


class Country(OneOf):
    """A country (ISO 3166-1 alpha-2), in upper case."""

    default_error_messages = {"invalid_choice": "This value must be a country code of ISO 3166-1, such as PH."}

    def __init__(self, **options: Any) -> None:
        super().__init__(COUNTRIES, **options)

    def schema(self) -> Schema:
        return {"type": "string", "pattern": "^[A-Z]{2}$"}


class ItemAmount(Amount):
    """The amount of one item, which may be nothing."""

    default_error_messages = {
        "invalid_type": "This value must be a whole number, the amount of one such item in the currency's smallest "
        "unit: 10.50 pesos are 1050 centavos, sent as 1050.",
    }


class CheckoutPart(StrictSerializer):
    """An object whose optional texts may be empty: programs send their empty form fields, which count as absent."""

    def get_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        for each in fields.values():
            if isinstance(each, StrictString) and not each.required:
                each.blank_is_absent = True
        return fields


class LineItemInput(CheckoutPart):
    """What is sold: a unit amount, and how many."""

    ignored = frozenset({"currency"})

    name = StrictString(max_length=255, help_text="Name of the item.")
    amount = ItemAmount(min_value=0, help_text="Amount of one, in the smallest unit.")
    quantity = StrictInteger(min_value=0, max_value=QUANTITY_MAX, help_text="How many.")
    description = StrictString(max_length=1000, required=False, help_text="More about it.")
    image = HttpsUrl(required=False, help_text="https URL of a picture.")


class BrandingInput(CheckoutPart):
    """How the payer's page looks; what is given replaces the merchant's own.

    An address of a picture that was uploaded to kaha stands for what the merchant has uploaded last.
    """

    icon = HttpsUrl(required=False, help_text="https URL of a small square picture.")
    logo = HttpsUrl(required=False, help_text="https URL of the logo.")
    use_logo = StrictBoolean(required=False, help_text="Whether the logo is shown in place of the icon.")
    primary_color = StrictString(
        max_length=7, pattern=COLOUR.pattern, required=False, help_text="Colour of the page, in hex: #1a73e8."
    )
    secondary_color = StrictString(
        max_length=7, pattern=COLOUR.pattern, required=False, help_text="Colour of the button, in hex."
    )


class ShippingInput(StrictSerializer):
    """Where the merchant ships; the page then asks for an address."""

    allowed_countries = Several(Country(), at_most=250, distinct=True, help_text="Countries (ISO 3166-1 alpha-2).")


def payment_types(**options: Any) -> Several:
    """Return the field of the ways to pay."""
    text = "The ways to pay that the page offers."
    return Several(OneOf(sourcetypes.NAMES), at_most=len(sourcetypes.NAMES), distinct=True, help_text=text, **options)


def items(one: StrictSerializer | None = None, **options: Any) -> Several:
    """Return the field of the line items."""
    return Several(one or LineItemInput(), at_most=ITEMS_MAX, help_text="What is sold.", **options)


class CheckoutInput(CheckoutPart):
    """What sessions, links and requests share. The total is 1 to 99 999 999 999."""

    default_error_messages = {"total_out_of_range": f"The total must be 1 to {AMOUNT_MAX} of the smallest unit."}

    currency = SentCurrency(help_text="ISO 4217 code of three letters, in any case.")
    payment_method_types = payment_types()
    branding = BrandingInput(required=False, help_text="How the page looks; the merchant's own branding otherwise.")
    metadata = Metadata(required=False, help_text=MEANING)
    require_auth = StrictBoolean(default=True, help_text="`false` skips 3-D Secure of cards.")

    def check_total(self, data: Mapping[str, Any], errors: Errors) -> None:
        """Add an error where the items do not come to an amount that can be charged."""
        given = data.get("line_items")
        if given is not None and "line_items" not in errors and not 1 <= total_of(given) <= AMOUNT_MAX:
            errors["line_items"] = [self.fault("total_out_of_range")]


class SessionInput(CheckoutInput):
    """An amount that one payer is to pay once."""

    default_error_messages = {
        "card_only": "This mode takes cards only.",
        "not_in_mode": "This mode has none.",
        "too_few": "This list must have at least one entry.",
        "too_early": "This time must be at least 30 minutes from now.",
        "too_late": "This time must be at most 24 hours from now.",
        "other_amount": "This amount must be the total of the items: {total}.",
    }

    cancel_url = PageUrl(help_text="Where the payer goes who does not pay.")
    success_url = PageUrl(
        help_text=f"Where the payer goes after paying; {SESSION_ID} in it is replaced by the session's ID."
    )
    line_items = items(at_least=0, required=False)
    mode = OneOf(Checkout.Mode.values, default=Checkout.Mode.PAYMENT, help_text="What the payer does.")
    bank_code = StrictString(max_length=50, required=False, help_text="A bank that is chosen already.")
    shipping_address_collection = ShippingInput(required=False, help_text="Where you ship.")
    billing_address_collection = OneOf(
        ["auto", "required"], default="auto", help_text="Whether a billing address is required."
    )
    client_reference_id = StrictString(max_length=255, required=False, help_text="Your own reference.")
    customer = PlainText(max_length=255, required=False, help_text="The ID of a customer; fills the form.")
    customer_email = Email(required=False, help_text="Fills the form.")
    customer_name = StrictString(max_length=50, required=False, help_text="Fills the form.")
    customer_phone = StrictString(min_length=5, max_length=25, required=False, help_text="Fills the form.")
    customer_name_collection = StrictBoolean(default=False, help_text="Whether the page asks for a name.")
    phone_number_collection = StrictBoolean(default=False, help_text="Whether the page asks for a phone number.")
    description = StrictString(max_length=255, required=False, help_text="What it is for.")
    locale = OneOf(["en", "fil"], default="en", help_text="Language of the page.")
    submit_type = OneOf(["pay", "book", "donate", "send"], default="pay", help_text="The verb on the button.")
    amount = StrictInteger(
        min_value=0, max_value=AMOUNT_MAX, required=False, help_text="Accepted where it is the total."
    )
    expires_at = StrictInteger(
        min_value=0,
        max_value=9_999_999_999,
        required=False,
        help_text="Seconds since 1970: 30 minutes to 24 hours from now.",
    )

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        mode = data.get("mode") or Checkout.Mode.PAYMENT
        self._check_items(mode, data, errors)
        if mode != Checkout.Mode.PAYMENT:
            if "payment_method_types" not in errors and data.get("payment_method_types") != [sourcetypes.CARD]:
                errors["payment_method_types"] = [self.fault("card_only")]
            if data.get("submit_type") not in (None, "pay"):
                errors["submit_type"] = [self.fault("not_in_mode")]
        if data.get("expires_at") is not None and "expires_at" not in errors:
            self._check_end(data["expires_at"], errors)

    def _check_items(self, mode: str, data: Mapping[str, Any], errors: Errors) -> None:
        given, amount = data.get("line_items"), data.get("amount")
        has_items = mode != Checkout.Mode.SAVE_CARD
        if has_items != bool(given) and "line_items" not in errors:
            absent = "missing" if given is None else "too_few"
            errors["line_items"] = [self.fault(absent if has_items else "not_in_mode")]
        if has_items:
            self.check_total(data, errors)
        if amount is not None and not errors.keys() & {"amount", "line_items"}:
            total = total_of(given or [])
            if amount != total:
                errors["amount"] = [self.fault("other_amount", total=total)]

    def _check_end(self, seconds: int, errors: Errors) -> None:
        after = datetime.fromtimestamp(seconds, UTC) - clock.now().replace(microsecond=0)
        if not EARLIEST <= after <= LATEST:
            errors["expires_at"] = [self.fault("too_early" if after < EARLIEST else "too_late")]


class PartInput(StrictSerializer):
    """How much of a hold to capture."""

    amount = Amount(required=False, help_text="How much; without it, all that is held. The rest is released.")
