"""Events, and the merchant as its events show it (contract, section 8)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from payments.models import Event
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member

# What may have changed of a merchant, by its name in events: the members of `/v2/me`, and what that does not show.
CHANGES = (
    *("account_name", "allowed_origins", "api_keys", "decline_budget", "payout_settings", "rates"),
    *("statement_descriptor", "status", "webhook_endpoint", "webhook_secret"),
)
MERCHANT_ID = "mer_019aa3c5d0a17b2c8c9a4f5e6d7c8b90"
REQUEST_ID = "req_019aa3c5d1f27c3e9d0b5a8e4f6c2b1a"


@dataclass(frozen=True, slots=True)
class Change:
    """What has changed, one of CHANGES; and where `/v2/me` does not show it, its values, none of them secret."""

    name: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class MerchantChange:
    """What an event shows of a merchant."""

    id: UUID
    livemode: bool
    changes: tuple[Change, ...]
    updated_at: datetime


def _changed(merchant: MerchantChange) -> list[str]:
    return [change.name for change in merchant.changes]


def _before(merchant: MerchantChange) -> dict[str, Any]:
    return {change.name: change.before for change in merchant.changes if change.before is not None}


def _after(merchant: MerchantChange) -> dict[str, Any]:
    return {change.name: change.after for change in merchant.changes if change.after is not None}


ORGANIZATION = ApiObject(
    "Organization",
    "What an operator changed of your account, as its events show it.",
    object=member.named("organization"),
    id=member.own_id("mer", MERCHANT_ID),
    changed=Member(
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        f"What was changed: {', '.join(f'`{name}`' for name in CHANGES)}. More names may come.",
        read=_changed,
        example=["webhook_endpoint"],
    ),
    before=member.any_object(
        "What `retrieve_account` does not show of it, by name, as it was; nothing secret.",
        {"webhook_endpoint": "https://shop.example/kaha"},
        read=_before,
    ),
    after=member.any_object(
        "The same as it is now; a URL without its query, `api_keys` as the new key's ID.",
        {"webhook_endpoint": "https://shop.example/payments/kaha"},
        read=_after,
    ),
    livemode=member.flag("The mode of the event. What concerns both modes has an event in each.", True),
    updated_at=member.updated(),
)


class NewEvent(NamedTuple):
    """An event that is about to be written, with its object as it was then and the request that caused it."""

    event: Event
    rendered: dict[str, Any]
    request_id: str | None
    idempotency_key: str | None


EVENT_REQUEST = ApiObject(
    "EventRequest",
    "The request that caused an event, without an `id` if no request did.",
    id=member.text("The `Request-Id`.", REQUEST_ID, required=False, read="request_id"),
    idempotency_key=member.or_null(member.text("The idempotency key, null without one.", "order-77-capture")),
)
EVENT_DATA = ApiObject(
    "EventData",
    "The data of an event.",
    object=Member("EventObject", "The object at the time of the event."),
)


def _data(new: NewEvent) -> dict[str, Any]:
    return {"object": new.rendered}


EVENT = ApiObject(
    "Event",
    "One change of one object.",
    id=member.own_id("evt", "evt_019aa3c5e2b27a9cb3e1f4d5c6b7a890", read="event.id"),
    object=member.named("event"),
    type=member.text("The type of event, such as `charge.succeeded`.", "charge.captured", read="event.type"),
    created=member.number(
        "Time of the event, in seconds since 1970.",
        1_795_225_380,
        read=lambda new: int(new.event.created_at.timestamp()),
    ),
    created_at=member.moment("Time of the event.", member.EXAMPLE_MOMENT, read="event.created_at"),
    livemode=member.livemode(read="event.livemode"),
    data=Member(EVENT_DATA, "The object that changed.", read=_data),
    request=member.nested(EVENT_REQUEST, "The request that caused the event.", read=lambda new: new),
    sequence=Member(
        {"type": "integer", "minimum": 1},
        "Number of the event among those of its object, from 1 and without gaps.",
        read="event.sequence",
        example=3,
    ),
)
