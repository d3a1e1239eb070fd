"""The query strings of lists: their fields, which arrive as text, and their filters."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from rest_framework.exceptions import ErrorDetail
from rest_framework.fields import Field

from payments import clock
from payments.api.validation.fields import (
    Email,
    OneOf,
    Schema,
    StrictBoolean,
    StrictField,
    StrictInteger,
    StrictString,
)
from payments.api.validation.strict import Errors, StrictSerializer
from payments.domain.catalogue.event_types import EVENT_TYPES, SUBJECTS
from payments.domain.charging.state_machine import FLAGS
from payments.ids import EPOCH, parse_id
from payments.models import Charge, Dispute
from payments.typed_text import MAX_DIGITS, MOMENT, read_moment

DEFAULT_PAGE_LENGTH = 20
MAX_PAGE_LENGTH = 100
MAX_WAIT_SECONDS = 30
# How far a caller's clock may be ahead.
MAX_CLOCK_SKEW = timedelta(days=1)
FLAG_NAMES = ("status", "authorized", "captured")
# What each state of a charge shows, as a query writes it.
FLAG_TEXTS = [{name: str(getattr(flags, name)).lower() for name in FLAG_NAMES} for flags in FLAGS]

_MOMENT = re.compile(MOMENT)
_INTEGER = re.compile(f"(-?)(?=[0-9])0*+([0-9]{{0,{MAX_DIGITS}}})")


class QueryInteger(StrictInteger):
    """An integer in ASCII digits."""

    def to_internal_value(self, data: Any) -> int:
        digits = _INTEGER.fullmatch(data)
        if not digits:
            self.fail("invalid_type")
        return super().to_internal_value(int(f"{digits[1]}{digits[2] or 0}"))


class QueryId(StrictString):
    """The ID of an object with this prefix, returned as a UUID."""

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
    """The ID of an object with one of the prefixes in `kinds`, returned as prefix and UUID."""

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
    """A date, or a date and time (ISO 8601, extended format), in UTC without an offset; returned in UTC."""

    default_error_messages = {
        "invalid_moment": "This value must be an ISO 8601 date and time.",
        "unencoded_plus": "The + of the offset arrived as a space: write it %2B in a URL, or use Z and UTC.",
        "too_early": "Nothing was made before 1970. This value must be a later date.",
    }

    def to_internal_value(self, data: Any) -> datetime:
        if not _MOMENT.fullmatch(data):
            self.fail("unencoded_plus" if _MOMENT.fullmatch(data.replace(" ", "+")) else "invalid_moment")
        try:
            moment = read_moment(data)
        except (ValueError, OverflowError):
            self.fail("invalid_moment")
        if moment < EPOCH:
            self.fail("too_early")
        return moment

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{MOMENT}$"}


class QueryEmail(Email):
    """An e-mail address in a query, of which a + that is not encoded arrives as a space."""

    default_error_messages = {
        "unencoded_plus": "A + in a query is a space: write it %2B, as in maria%2Bshop@example.com.",
    }

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, str) and " " in data.strip():
            self.fail("unencoded_plus")
        return super().to_internal_value(data)


class PageQuery(StrictSerializer):
    """The part of a list: at most `limit` objects, those older than the object `start_after`."""

    start_after = StrictString(
        max_length=255,
        required=False,
        blank_is_absent=True,
        help_text="The ID after which the page begins: only older objects follow.",
    )
    limit = QueryInteger(
        min_value=1, max_value=MAX_PAGE_LENGTH, default=DEFAULT_PAGE_LENGTH, help_text="How many objects at most."
    )


class FeedQuery(PageQuery):
    """The part of a list that is followed: also the objects newer than `ending_before`, waited for if need be."""

    default_error_messages = {
        "not_together": "Give this without {other}.",
    }

    ending_before = StrictString(
        max_length=255,
        required=False,
        blank_is_absent=True,
        help_text="The ID before which the page ends: only newer objects, at most `limit` of those that come next "
        "after it, the newest first. `next` is absent. Not together with `start_after`.",
    )
    wait = QueryInteger(
        min_value=1,
        max_value=MAX_WAIT_SECONDS,
        required=False,
        help_text="How many seconds to wait for an object where the page would be empty. Without effect beside "
        "`start_after`.",
    )

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        if data.get("ending_before") and data.get("start_after"):
            errors["ending_before"] = [self.fault("not_together", other="start_after")]


class PeriodQuery(PageQuery):
    """The filters of a list by time; `listed` names its objects."""

    listed = "objects"

    def get_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        return super().get_fields() | {
            "created_at[gte]": QueryMoment(
                required=False,
                help_text=f"Only {self.listed} made at this ISO 8601 time or later, which is not in the future; "
                "without an offset it is UTC.",
            ),
            "created_at[lt]": QueryMoment(
                required=False,
                help_text=f"Only {self.listed} made before this ISO 8601 time, later than `created_at[gte]`; "
                "without an offset it is UTC.",
            ),
        }

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        since, before = (self._moment(f"created_at[{name}]", data, errors) for name in ("gte", "lt"))
        if since and since > clock.now() + MAX_CLOCK_SKEW:
            errors["created_at[gte]"] = [ErrorDetail("This value must not be in the future.", code="invalid_choice")]
        elif before and before <= (since or EPOCH):
            message = "This value must be later than created_at[gte], and than 1970-01-01."
            errors["created_at[lt]"] = [ErrorDetail(message, code="invalid_choice")]

    def _moment(self, name: str, data: Mapping[str, Any], errors: Errors) -> datetime | None:
        given = name not in errors and data.get(name)
        return self.fields[name].run_validation(given) if given else None


class ChargeListQuery(PeriodQuery):
    """The filters of charges. Those that no charge can pass together are refused."""

    listed = "charges"
    status = OneOf(Charge.Status.values, required=False, help_text="Only charges with this status.")
    captured = QueryBoolean(
        required=False,
        help_text="Only charges that are captured, or are not. A combination that no charge can have is refused.",
    )
    authorized = QueryBoolean(required=False, help_text="Only charges that hold money now, or do not.")
    customer = QueryId("cus", required=False, help_text="Only charges on the sources of the customer with this ID.")
    source = QueryId(  # type: ignore[assignment]
        "src", required=False, help_text="Only charges on the source with this ID."
    )

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        self._check_flags(data, errors)
        super().check_together(data, errors)

    def _check_flags(self, data: Mapping[str, Any], errors: Errors) -> None:
        """Refuse the first filter that no charge can pass together with those before it."""
        possible = FLAG_TEXTS
        given: list[str] = []
        for name in FLAG_NAMES:
            if data.get(name) is None or name in errors:
                continue
            left = [flags for flags in possible if flags[name] == data[name]]
            if not left:
                values = " or ".join(sorted({flags[name] for flags in possible}))
                message = f"Of charges with {' and '.join(given)}, {name} can only be {values}."
                errors[name] = [ErrorDetail(message, code="invalid_choice")]
                return
            possible = left
            given.append(f"{name} {data[name]}")


class DisputeListQuery(PageQuery):
    """The filters of disputes."""

    status = OneOf(Dispute.Status.values, required=False, help_text="Only disputes with this status.")
    charge = QueryId("ch", required=False, help_text="Only disputes of the charge with this ID.")


class EventListQuery(FeedQuery):
    """The filters of events: their type, or the object that they are about."""

    type = OneOf(EVENT_TYPES, required=False, help_text="Only events of this type, also with `ending_before`.")
    object = QueryObject(
        SUBJECTS,
        required=False,
        help_text="Only events about the object with this ID, by their `sequence`; `start_after` must be one of them. "
        "Not together with `ending_before`. `wait` is refused, too.",
    )

    default_error_messages = {"other_object": "Events of this type are about another kind of object than this."}

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        super().check_together(data, errors)
        for name in ("ending_before", "wait"):
            if data.get("object") and data.get(name):
                errors[name] = [self.fault("not_together", other="object")]
        kind, object_id = data.get("type"), data.get("object")
        if not kind or not object_id or errors.keys() & {"type", "object"}:
            return
        if EVENT_TYPES[kind].about.model is not SUBJECTS[object_id.partition("_")[0]].model:
            errors["type"] = [self.fault("other_object")]
