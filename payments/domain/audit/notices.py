"""The event for a merchant about a change of its own that may lead its data, money or trust elsewhere."""

from collections.abc import Sequence
from uuid import UUID

from payments import clock
from payments.db.writes import execute_writes
from payments.domain.shared import events
from payments.domain.shared.caller import Caller, mode_name, read_endpoints
from payments.models import Merchant
from payments.rendering.objects.events import ORGANIZATION, MerchantChange
from payments.rendering.objects.events import Change as Change
from payments.webhooks.outbox import NOTICE, Endpoint


def notify_merchant(
    merchant_id: UUID, *changes: Change, livemode: bool | None = None, endpoints: Sequence[Endpoint] | None = None
) -> None:
    """Write an event of `changes` in one mode, or in both, within the transaction of the change.

    It goes to the merchant's endpoints of the mode, or to `endpoints`. It locks the merchant.
    """
    merchant = Merchant.objects.select_for_update(no_key=True).get(id=merchant_id)
    for mode in (False, True) if livemode is None else (livemode,):
        count = f"events_{mode_name(mode)}"
        setattr(merchant, count, getattr(merchant, count) + 1)
        merchant.save(update_fields=[count])
        known = read_endpoints(merchant_id, mode) if endpoints is None else endpoints
        caller = Caller(merchant_id, mode, endpoints=known)
        shown = ORGANIZATION.render(MerchantChange(merchant_id, mode, changes, clock.now()))
        execute_writes(*events.writes_of(caller, NOTICE, merchant_id, getattr(merchant, count), shown))
