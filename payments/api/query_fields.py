"""Fields of query strings, where everything arrives as text."""

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from payments.api.fields import Schema, StrictBoolean, StrictField, StrictInteger, StrictString
from payments.ids import parse_id
from payments.models.scoping import FIRST_ID

_DATE, _TIME, _ZONE = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?",
    r"Z|[+\-][0-9]{2}:[0-9]{2}",
)
MOMENT = f"{_DATE}(?:{_TIME}(?:{_ZONE})?)?"
MAX_INTEGER_DIGITS = 18

_MOMENT = re.compile(MOMENT)
_INTEGER = re.compile(f"(?=[0-9])0*+([0-9]{{0,{MAX_INTEGER_DIGITS}}})")


class QueryInteger(StrictInteger):
    """An integer in ASCII digits."""

    def to_internal_value(self, data: Any) -> int:
        digits = _INTEGER.fullmatch(data)
        if not digits:
            self.fail("invalid_type")
        return super().to_internal_value(int(digits[1] or 0))


class QueryId(StrictString):
    """The ID of an object, with this prefix or any; returned as a UUID, for other text as one that no object has."""

    def __init__(self, prefix: str = "", **options: Any) -> None:
        super().__init__(max_length=255, **options)
        self.prefix = prefix

    def to_internal_value(self, data: Any) -> UUID:
        text: str = super().to_internal_value(data)
        return parse_id(self.prefix or text.partition("_")[0], text) or FIRST_ID


class QueryBoolean(StrictBoolean):
    """`true` or `false`."""

    def to_internal_value(self, data: Any) -> bool:
        return super().to_internal_value({"true": True, "false": False}.get(data))


class QueryMoment(StrictField):
    """A date, or a date and time (ISO 8601, extended format), in UTC unless it says otherwise; returned in UTC."""

    default_error_messages = {"invalid_moment": "This value must be an ISO 8601 date and time."}

    def to_internal_value(self, data: Any) -> datetime:
        if not _MOMENT.fullmatch(data):
            self.fail("invalid_moment")
        try:
            moment = datetime.fromisoformat(data)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fail("invalid_moment")

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{MOMENT}$"}
