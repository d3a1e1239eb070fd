"""Fields of query strings, where everything arrives as text."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from payments.api.fields import Schema, StrictBoolean, StrictField, StrictInteger, StrictString
from payments.ids import EPOCH, parse_id

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
    """The ID of an object with this prefix; returned as a UUID."""

    default_error_messages = {"pattern": "This value must be an ID: {prefix}_ and 32 hex digits."}

    def __init__(self, prefix: str, **options: Any) -> None:
        super().__init__(max_length=255, **options)
        self.prefix = prefix

    def to_internal_value(self, data: Any) -> UUID:
        uuid = parse_id(self.prefix, super().to_internal_value(data))
        if uuid is None:
            self.fail("pattern", prefix=self.prefix)
        return uuid

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{self.prefix}_[0-9a-f]{{32}}$"}


class QueryObject(StrictString):
    """The ID of an object of any of the `kinds`, by prefix; returned as prefix and UUID."""

    default_error_messages = {"pattern": "This value must be an ID: {prefixes}, and 32 hex digits."}

    def __init__(self, kinds: Mapping[str, Any], **options: Any) -> None:
        super().__init__(max_length=255, **options)
        self.kinds = kinds

    def to_internal_value(self, data: Any) -> tuple[str, UUID]:
        text: str = super().to_internal_value(data)
        prefix = text.partition("_")[0]
        uuid = parse_id(prefix, text)
        if uuid is None or prefix not in self.kinds:
            self.fail("pattern", prefixes=" or ".join(f"{kind}_" for kind in self.kinds))
        return prefix, uuid

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^(?:{'|'.join(self.kinds)})_[0-9a-f]{{32}}$"}


class QueryBoolean(StrictBoolean):
    """`true` or `false`."""

    def to_internal_value(self, data: Any) -> bool:
        return super().to_internal_value({"true": True, "false": False}.get(data))


class QueryMoment(StrictField):
    """A date, or a date and time (ISO 8601, extended format), in UTC unless it says otherwise; returned in UTC."""

    default_error_messages = {
        "invalid_moment": "This value must be an ISO 8601 date and time.",
        "too_early": "Nothing was made before 1970. This value must be a later date.",
    }

    def to_internal_value(self, data: Any) -> datetime:
        if not _MOMENT.fullmatch(data):
            self.fail("invalid_moment")
        try:
            moment = datetime.fromisoformat(data)
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fail("invalid_moment")
        if moment < EPOCH:
            self.fail("too_early")
        return moment

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{MOMENT}$"}
