"""What a payer agreed to when a source was kept: the bounds of `consent`."""

from datetime import datetime
from ipaddress import ip_address
from typing import Any

from payments import clock
from payments.api.validation.fields import Schema, StrictString
from payments.api.validation.query_fields import MAX_CLOCK_SKEW, QueryMoment
from payments.api.validation.strict import StrictSerializer

# The longest IPv6 address, with an IPv4 address in its end.
IP_MAX_LENGTH = 45


class IpAddress(StrictString):
    """An IPv4 or IPv6 address."""

    default_error_messages = {"invalid_ip": "This value must be an IP address, such as 203.0.113.7."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=IP_MAX_LENGTH, **options)

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        try:
            return str(ip_address(text))
        except ValueError:
            self.fail("invalid_ip")

    def schema(self) -> Schema:
        return super().schema() | {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}


class PastMoment(QueryMoment):
    """A date, or a date and time, that is not in the future; returned in UTC."""

    default_error_messages = {
        "invalid_type": "This value must be a string.",
        "invalid_choice": "This value must not be in the future.",
    }

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str):
            self.fail("invalid_type")
        moment = super().to_internal_value(data)
        if moment > clock.now() + MAX_CLOCK_SKEW:
            self.fail("invalid_choice")
        return moment


class Consent(StrictSerializer):
    """What the payer agreed to when the source was kept, which is evidence in a dispute."""

    text = StrictString(max_length=5000, help_text="The words that the payer agreed to.")
    at = PastMoment(help_text="When the payer agreed: an ISO 8601 date and time; without an offset it is UTC.")
    ip = IpAddress(required=False, help_text="The payer's IP address.")
    user_agent = StrictString(max_length=500, required=False, help_text="The `User-Agent` of the payer's browser.")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        value = super().to_internal_value(data)
        return value | {"at": clock.iso(value["at"])}
