"""What requests about sources and charges may hold (contract, section 3)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from rest_framework.exceptions import ErrorDetail
from rest_framework.fields import Field

from payments import clock, sourcetypes
from payments.api.fields import (
    MONTH,
    CardNumber,
    Choice,
    Currency,
    Digits,
    Email,
    NameSafe,
    StrictBoolean,
    StrictInteger,
    StrictString,
    Url,
)
from payments.api.metadata import Metadata
from payments.api.query_fields import QueryBoolean, QueryId, QueryInteger, QueryMoment, QueryObject
from payments.api.strict import Errors, StrictSerializer
from payments.domain.charging.state_machine import FLAGS
from payments.domain.events import EVENT_OBJECTS, EVENT_TYPES
from payments.domain.test_clock import LONGEST_SECONDS
from payments.ids import EPOCH
from payments.models import AMOUNT_MAX, Charge
from payments.money import DEFAULT_CURRENCY
from payments.webhooks.urls import ForbiddenUrl, check_notify_url

DEFAULT_PAGE_LENGTH = 20
MAX_PAGE_LENGTH = 100
# A caller's clock may be ahead by less than this.
CLOCKS_APART = timedelta(days=1)
FLAG_NAMES = ("status", "authorized", "captured")
DEFAULT_REFUND_REASON = "requested_by_customer"


class CardInput(StrictSerializer):
    """A card as the payer typed it."""

    default_error_messages = {"card_expired": "This card has expired."}

    name = NameSafe(max_length=50)
    number = CardNumber()
    exp_month = StrictString(max_length=2, pattern=MONTH)
    exp_year = Digits(min_length=4, max_length=4)
    cvc = Digits(min_length=3, max_length=4)
    address_line1 = NameSafe(max_length=255, required=False)
    address_line2 = NameSafe(max_length=255, required=False)
    address_city = NameSafe(max_length=255, required=False)
    address_state = NameSafe(max_length=255, required=False)
    address_country = NameSafe(max_length=255, required=False)
    address_zip = NameSafe(max_length=50, required=False)

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        """A card is good until its last month is over (UTC)."""
        if "exp_month" in errors or "exp_year" in errors:
            return
        today = clock.now()
        year, month = int(data["exp_year"]), int(data["exp_month"])
        if (year, month) < (today.year, today.month):
            errors["exp_year" if year < today.year else "exp_month"] = [self.fault("card_expired")]


class RedirectInput(StrictSerializer):
    """Where the payer is sent back to, and who is told."""

    default_error_messages = {"invalid_url": "Nothing would ever be sent to this URL. {reason}"}

    success = Url()
    fail = Url()  # type: ignore[assignment]
    notify = Url(required=False)

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        notify = data.get("notify")
        if "notify" in errors or not notify:
            return
        try:
            check_notify_url(notify, self.context["livemode"])
        except ForbiddenUrl as error:
            errors["notify"] = [self.fault("invalid_url", reason=error)]


class AddressInput(StrictSerializer):
    """A billing or shipping address."""

    name = NameSafe(max_length=50)
    phone_number = NameSafe(max_length=50, required=False)
    email = Email(required=False)
    line1 = NameSafe(max_length=255, required=False)
    line2 = NameSafe(max_length=255, required=False)
    city = NameSafe(max_length=100, required=False)
    state = NameSafe(max_length=50, required=False)
    country = NameSafe(max_length=50, required=False)
    zip_code = NameSafe(max_length=50, required=False)


class OwnerInput(StrictSerializer):
    """Whom a source belongs to."""

    billing = AddressInput(required=False)
    shipping = AddressInput(required=False)
    name = StrictString(min_length=0, max_length=50, required=False)
    address_country = NameSafe(max_length=50, required=False)


class SourceInput(StrictSerializer):
    """`POST /v2/sources/`. Needs `livemode` in the serializer's context."""

    default_error_messages = {"not_allowed": "Only a source of type card has this."}
    ignored = frozenset({"currency"})

    type = Choice(sourcetypes.NAMES)
    card = CardInput(required=False)
    redirect = RedirectInput(required=False)
    owner = OwnerInput(required=False)
    metadata = Metadata(required=False)

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        if "type" in errors:
            return
        has_card = data.get("card") is not None
        if has_card and data["type"] != sourcetypes.CARD:
            errors["card"] = [self.fault("not_allowed")]
        if not has_card and data["type"] == sourcetypes.CARD:
            errors["card"] = [self.fault("missing")]


class ChargeInput(StrictSerializer):
    """`POST /v2/charges/`. Without `statement_descriptor` the merchant's own applies."""

    amount = StrictInteger(min_value=1, max_value=AMOUNT_MAX)
    currency = Currency(default=DEFAULT_CURRENCY)
    source = NameSafe(max_length=255)  # type: ignore[assignment]
    description = StrictString(max_length=255)
    statement_descriptor = NameSafe(min_length=3, max_length=100, required=False)
    capture = StrictBoolean(default=True)
    cvc = Digits(min_length=3, max_length=4, required=False)
    require_auth = StrictBoolean(default=True)
    redirect_url = Url(required=False)
    metadata = Metadata(required=False)


class CaptureInput(StrictSerializer):
    """`POST /v2/charges/{ch}/capture`. Without `amount`, all that is held."""

    amount = StrictInteger(min_value=1, max_value=AMOUNT_MAX, required=False)


class RefundInput(StrictSerializer):
    """`POST /v2/charges/{ch}/refund`. Without `amount`, all that is left."""

    amount = StrictInteger(min_value=1, max_value=AMOUNT_MAX, required=False)
    reason = StrictString(max_length=255, default=DEFAULT_REFUND_REASON)


class VerifyInput(StrictSerializer):
    """`POST /v2/charges/{ch}/verify`."""

    confirmation_id = NameSafe(min_length=5, max_length=255)
    otp = StrictString(max_length=10)


class ClockInput(StrictSerializer):
    """`POST /v2/test/clock`."""

    advance_seconds = StrictInteger(min_value=1, max_value=LONGEST_SECONDS)


class PageQuery(StrictSerializer):
    """Which part of a list: at most `limit` objects, those older than the object `start_after`."""

    start_after = StrictString(max_length=255, required=False)
    limit = QueryInteger(min_value=1, max_value=MAX_PAGE_LENGTH, default=DEFAULT_PAGE_LENGTH)


class ChargeListQuery(PageQuery):
    """`GET /v2/charges/`. Filters that no charge can pass together are refused."""

    status = Choice(Charge.Status.values, required=False)
    captured = QueryBoolean(required=False)
    authorized = QueryBoolean(required=False)
    customer = QueryId("cus", required=False)
    source = QueryId("src", required=False)  # type: ignore[assignment]

    def get_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        return super().get_fields() | {
            "created_at[gte]": QueryMoment(required=False),
            "created_at[lt]": QueryMoment(required=False),
        }

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        self._check_flags(data, errors)
        self._check_period(data, errors)

    def _check_flags(self, data: Mapping[str, Any], errors: Errors) -> None:
        """Each filter must leave something of what charges can show beside those before it."""
        shown = [{name: _written(getattr(flags, name)) for name in FLAG_NAMES} for flags in FLAGS]
        given: list[str] = []
        for name in FLAG_NAMES:
            if data.get(name) is None or name in errors:
                continue
            left = [flags for flags in shown if flags[name] == data[name]]
            if not left:
                possible = " or ".join(sorted({flags[name] for flags in shown}))
                message = f"Of charges with {' and '.join(given)}, {name} can only be {possible}."
                errors[name] = [ErrorDetail(message, code="invalid_choice")]
                return
            shown = left
            given.append(f"{name} {data[name]}")

    def _check_period(self, data: Mapping[str, Any], errors: Errors) -> None:
        since, before = (self._moment(f"created_at[{name}]", data, errors) for name in ("gte", "lt"))
        if since and since > clock.now() + CLOCKS_APART:
            errors["created_at[gte]"] = [ErrorDetail("This value must not be in the future.", code="invalid_choice")]
        elif before and before <= (since or EPOCH):
            message = "This value must be later than created_at[gte], and than 1970-01-01."
            errors["created_at[lt]"] = [ErrorDetail(message, code="invalid_choice")]

    def _moment(self, name: str, data: Mapping[str, Any], errors: Errors) -> datetime | None:
        given = name not in errors and data.get(name)
        return self.fields[name].run_validation(given) if given else None


def _written(value: str | bool) -> str:
    return value if isinstance(value, str) else str(value).lower()


class EventListQuery(PageQuery):
    """`GET /v2/events/`: those of one type, or of the one object with the ID `object`."""

    type = Choice(EVENT_TYPES, required=False)
    object = QueryObject(EVENT_OBJECTS, required=False)

    default_error_messages = {"other_object": "Events of this type are about another kind of object than this."}

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        kind, told = data.get("type"), data.get("object")
        if kind and told and not errors.keys() & {"type", "object"}:
            model = EVENT_OBJECTS[told.partition("_")[0]]
            if model._meta.model_name != kind.partition(".")[0]:
                errors["type"] = [self.fault("other_object")]
