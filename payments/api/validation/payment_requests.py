"""The bodies and queries of requests about payment requests (checkout law, section 5)."""

from collections.abc import Mapping
from typing import Any

from payments.api.validation.checkout import CheckoutInput, Several, items
from payments.api.validation.fields import OneOf, PlainText, StrictBoolean, StrictInteger, StrictString
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Errors, StrictSerializer
from payments.domain.checkout import collect
from payments.rendering.objects.payment_requests import RECURRING_MEANS, SCHEDULE_MEANS


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


class TryDays(Several):
    """Whole days in ascending order."""

    default_error_messages = {"not_ascending": "These days must be in ascending order, each once."}

    def to_internal_value(self, data: Any) -> list[Any]:
        days = super().to_internal_value(data)
        if sorted(set(days)) != days:
            self.fail("not_ascending")
        return days


class CollectPart(StrictSerializer):
    """When the kept source is charged."""

    schedule = TryDays(
        StrictInteger(min_value=0, max_value=collect.DAY_MAX),
        at_most=collect.TRIES_MAX,
        default=list(collect.SCHEDULE),
        help_text=SCHEDULE_MEANS,
    )
    recurring = StrictBoolean(default=False, help_text=RECURRING_MEANS)


class CollectInput(StrictSerializer):
    """How a request collects itself from now on; what is left out stays as it is."""

    source = PlainText(  # type: ignore[assignment]
        max_length=255, required=False, help_text="The ID of a source that is kept for the customer, with consent."
    )
    collect = CollectPart(required=False, help_text="When it is charged.")


class CollectingRequestInput(RequestInput, CollectInput):
    """An invoice to one customer, which may collect itself: `source` and `collect` are given together."""

    rules = {"dependentRequired": {"source": ["collect"], "collect": ["source"]}}

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        super().check_together(data, errors)
        absent = [name for name in ("source", "collect") if data.get(name) in (None, "")]
        if len(absent) == 1:
            self.require(absent[0], errors)


class VoidInput(StrictSerializer):
    """Why a request is voided."""

    reason = StrictString(max_length=255, help_text="Why; the payer's page does not show it.")


def status() -> OneOf:
    """Return the filter by how a request stands."""
    return OneOf(["open", "paid", "voided"], required=False, help_text="Only requests that are so.")


class RequestListQuery(PageQuery):
    """The filters of the list of payment requests."""

    status = status()
