"""The event for a merchant about a change of its own that may lead its data, money or trust elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from payments import clock, ids
from payments.db.writes import execute_writes
from payments.domain.shared import events
from payments.domain.shared.caller import Caller, mode_name
from payments.models import Merchant

# What may have changed, by its name in events: the members of `/v2/me`, and what that does not show.
CHANGES = (
    *("account_name", "api_keys", "decline_budget", "notify_url", "payout_settings"),
    *("rates", "statement_descriptor", "status", "webhook_secret"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """What has changed, one of CHANGES; and where `/v2/me` does not show it, its values, none of them secret."""

    name: str
    before: Any = None
    after: Any = None


def notify_merchant(
    merchant_id: UUID, *changes: Change, livemode: bool | None = None, notify_urls: Mapping[str, str] | None = None
) -> None:
    """Write an event of `changes` in one mode, or in both, within the transaction of the change.

    It goes to the merchant's default URL, or to that of `notify_urls`, by mode. It locks the merchant.
    """
    merchant = Merchant.objects.select_for_update(no_key=True).get(id=merchant_id)
    urls = merchant.notify_urls if notify_urls is None else notify_urls
    for mode in (False, True) if livemode is None else (livemode,):
        count = f"events_{mode_name(mode)}"
        setattr(merchant, count, getattr(merchant, count) + 1)
        merchant.save(update_fields=[count])
        caller = Caller(merchant_id, mode, notify_urls=urls)
        execute_writes(*events.of_organization(caller, getattr(merchant, count), _rendered(merchant_id, mode, changes)))


def _rendered(merchant_id: UUID, livemode: bool, changes: tuple[Change, ...]) -> dict[str, Any]:
    return {
        "object": "organization",
        "id": ids.public_id("mer", merchant_id),
        "changed": [change.name for change in changes],
        "before": {change.name: change.before for change in changes if change.before is not None},
        "after": {change.name: change.after for change in changes if change.after is not None},
        "livemode": livemode,
        "updated_at": clock.iso(clock.now()),
    }
