"""Sets a merchant's default notify URLs: where events go whose source has none."""

from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log, notices
from payments.domain.audit.audit_log import Action
from payments.domain.shared.caller import mode_name
from payments.models import Merchant
from payments.webhooks.transport.urls import check_notify_url


@transaction.atomic
def set_default(merchant: Merchant, url: str, livemode: bool) -> None:
    """Set the default URL of one mode for events from now on; "" removes it. Raises ForbiddenUrl.

    The earlier URL gets the event of the change, because the new one may be an attacker's.
    """
    if url:
        check_notify_url(url, livemode)
    locked, mode = Merchant.objects.select_for_update(no_key=True).get(id=merchant.id), mode_name(livemode)
    before_all = dict(locked.notify_urls)
    before = locked.notify_urls.pop(mode, "")
    if url:
        locked.notify_urls[mode] = url
    locked.updated_at = clock.now()
    locked.save(update_fields=["notify_urls", "updated_at"])
    # A query often holds a secret.
    old, new = (each.partition("?")[0] for each in (before, url))
    audit_log.record(
        Action.CHANGED,
        merchant,
        fields=["notify_urls"],
        detail=f"{mode} mode: {audit_log.change(old, new)}",
        notice_of=merchant.id if livemode else None,
    )
    if before != url:
        change = notices.Change("notify_url", old or None, new or None)
        notices.notify_merchant(merchant.id, change, livemode=livemode, notify_urls=before_all)
