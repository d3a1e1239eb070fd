"""The event for a merchant about a change of its own that may lead its data, money or trust elsewhere."""

from collections.abc import Mapping
from uuid import UUID

from payments import clock
from payments.db.writes import execute_writes
from payments.domain.shared import events
from payments.domain.shared.caller import Caller, mode_name
from payments.models import Merchant
from payments.rendering.objects.events import ORGANIZATION, MerchantChange
from payments.rendering.objects.events import Change as Change


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
        shown = ORGANIZATION.render(MerchantChange(merchant_id, mode, changes, clock.now()))
        execute_writes(*events.of_organization(caller, getattr(merchant, count), shown))
