"""The bodies and queries of requests about payment requests (checkout law, section 5)."""

from collections.abc import Mapping
from typing import Any

from payments.api.validation.checkout import CheckoutInput, Several, items
from payments.api.validation.fields import OneOf, PlainText, StrictString
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Errors, StrictSerializer


class RequestInput(CheckoutInput):
    """An invoice to one customer."""

    customer = PlainText(
        max_length=255,
        help_text="The ID of the customer who is to pay. The invoice has its `metadata.name`, and is in the language "
        "of its `metadata.locale`, `en` or `fil`.",
    )
    delivery_methods = Several(
        OneOf(["email", "sms"]), at_most=2, distinct=True, help_text="How the message goes: `email`, `sms`."
    )
    line_items = items()
    message = StrictString(max_length=1000, required=False, help_text="What you say to the customer.")

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        self.check_total(data, errors)


class VoidInput(StrictSerializer):
    """Why a request is voided."""

    reason = StrictString(max_length=255, help_text="Why; the payer's page does not show it.")


def status() -> OneOf:
    """Return the filter by how a request stands."""
    return OneOf(["open", "paid", "voided"], required=False, help_text="Only requests that are so.")


class RequestListQuery(PageQuery):
    """The filters of the list of payment requests."""

    status = status()
