"""The bodies of requests about webhook endpoints (checkout, section 6)."""

from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError

from payments.api.validation.fields import NotifyUrl, OneOf, Schema, StrictField, StrictInteger, StrictString
from payments.api.validation.metadata import MEANING, Metadata
from payments.api.validation.strict import StrictSerializer
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.domain.webhooks.endpoints import OVERLAP, OVERLAP_MAX
from payments.models.merchants.webhook_endpoint import EVERY_TYPE
from payments.rendering.objects.webhook_endpoints import STATUS, STATUSES

LONGEST_COMPARED, LEAST_SIMILARITY = 60, 0.8
ADDRESS = (
    "Where events are sent; https in live mode. A URL to which nothing would ever be sent is refused: one with user "
    "information, a forbidden port, or a private network's address."
)
DESCRIPTION = "What it is for, in your words."


class EventTypes(StrictField):
    """A list of event types without repeats, or `*` alone."""

    default_error_messages = {
        "invalid_type": "This value must be a list of strings.",
        "too_short": "This list must have at least one type of event.",
        "invalid_choice": 'There is no such type of event. Send ["*"] for all, or types such as dispute.created.',
        "not_allowed": 'A type must be listed once, and "*" alone.',
    }

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list):
            self.fail("invalid_type")
        if not data:
            self.fail("too_short")
        known = {EVERY_TYPE, *EVENT_TYPES}
        places = [place for place, each in enumerate(data) if not isinstance(each, str) or each not in known]
        if places:
            faults = {str(place): str(self.error_messages["invalid_choice"]) + _meant(data[place]) for place in places}
            raise ValidationError({place: [ErrorDetail(text, "invalid_choice")] for place, text in faults.items()})
        if len(set(data)) < len(data) or (EVERY_TYPE in data and len(data) > 1):
            self.fail("not_allowed")
        return data

    def schema(self) -> Schema:
        types = {"type": "string", "enum": [EVERY_TYPE, *EVENT_TYPES]}
        return {"type": "array", "items": types, "minItems": 1, "uniqueItems": True}


def _meant(unknown: Any) -> str:
    """Return which type was probably meant; "" where it is like none."""
    similar = get_close_matches(str(unknown)[:LONGEST_COMPARED], EVENT_TYPES, 1, LEAST_SIMILARITY)
    return f" Did you mean {similar[0]}?" if similar else ""


class EndpointChanges(StrictSerializer):
    """The changes to an endpoint."""

    url = NotifyUrl(required=False, help_text=ADDRESS)
    enabled_events = EventTypes(required=False, help_text="The types of its events, in place of those before.")
    status = OneOf(STATUSES, required=False, help_text=STATUS)
    description = StrictString(min_length=0, max_length=255, required=False, help_text=DESCRIPTION)
    metadata = Metadata(required=False, help_text=f"{MEANING} It is replaced as a whole.")


class EndpointInput(StrictSerializer):
    """A new endpoint."""

    url = NotifyUrl(help_text=ADDRESS)
    enabled_events = EventTypes(help_text='The types of its events; `["*"]` for all, also those that come later.')
    description = StrictString(min_length=0, max_length=255, default="", help_text=DESCRIPTION)
    metadata = Metadata(required=False, help_text=MEANING)


class RollInput(StrictSerializer):
    """How long the earlier secret signs too."""

    overlap_seconds = StrictInteger(
        min_value=0,
        max_value=OVERLAP_MAX // timedelta(seconds=1),
        default=OVERLAP // timedelta(seconds=1),
        help_text="For how long the earlier secret signs too, so that receivers can change over; 0 ends it at once.",
    )
