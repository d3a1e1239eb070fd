"""The bodies of requests about payment links (checkout law, section 4)."""

from collections.abc import Mapping
from typing import Any

from rest_framework.fields import Field, empty

from payments import clock
from payments.api.validation.checkout import (
    QUANTITY_MAX,
    CheckoutInput,
    LineItemInput,
    PageUrl,
    ShippingInput,
    items,
)
from payments.api.validation.fields import Schema, StrictBoolean, StrictInteger, StrictString
from payments.api.validation.strict import Errors
from payments.domain.checkout.links import end_of_day

PAYMENTS_MAX = 2**31 - 1
DAY = "(?:0[1-9]|1[0-2])/(?:0[1-9]|[12][0-9]|3[01])/[0-9]{4}"


class Day(StrictString):
    """A day that is not over, `MM/DD/YYYY`."""

    default_error_messages = {
        "pattern": "This value must be a day, month first: 12/31/2030.",
        "past": "This day is over.",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=10, pattern=DAY, **options)

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        try:
            end = end_of_day(text)
        except ValueError:
            self.fail("pattern")
        if end <= clock.now():
            self.fail("past")
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{DAY}$"}


class LinkItemInput(LineItemInput):
    """What is sold: a unit amount, and how many there are."""

    quantity = StrictInteger(min_value=0, max_value=QUANTITY_MAX, help_text="The stock.")
    remaining = StrictInteger(
        min_value=0,
        max_value=QUANTITY_MAX,
        required=False,
        help_text="How many are left; `quantity` if it is left out, and in a new link also if it is 0.",
    )


class LinkInput(CheckoutInput):
    """Items to be sold to many payers."""

    allow_adjustable_quantity = StrictBoolean(help_text="Whether the payer chooses how many of each; else one of each.")
    internal_name = StrictString(max_length=255, help_text="What you call it; payers do not see it.")
    line_items = items(LinkItemInput())
    shipping_address_collection = ShippingInput(required=False, help_text="Where you ship.")
    description = StrictString(max_length=1000, required=False, help_text="What it is for.")
    expiry = Day(required=False, help_text="Its last day, `MM/DD/YYYY`, in the installation's time zone.")
    maximum_payments = StrictInteger(
        min_value=1, max_value=PAYMENTS_MAX, required=False, help_text="How often it can be paid."
    )
    phone_number_collection = StrictBoolean(default=False, help_text="Whether the page asks for a phone number.")
    redirect_url = PageUrl(required=False, help_text="Where payers go after paying; kaha's own result page otherwise.")

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        self.check_total(data, errors)


class LinkChangeInput(LinkInput):
    """The members of a link that are to be replaced; the others stay, and `null` takes an optional one away."""

    # Existing clients send the link's ID once more.
    ignored = frozenset({"linkId"})

    def get_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        optional = ((name, each.default) for name, each in fields.items() if not each.required)
        self._absent = {name: None if default is empty else default for name, default in optional}
        for each in fields.values():
            each.required, each.default = False, empty
        return fields

    def _members(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], Errors]:
        value, errors = super()._members(data)
        return value | {name: gone for name, gone in self._absent.items() if data.get(name, empty) is None}, errors
