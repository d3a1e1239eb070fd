"""A merchant's default notify URLs: where events go whose source has none."""

from collections.abc import Mapping
from threading import Lock
from uuid import UUID

from cachetools import TTLCache, cached
from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.caller import Caller
from payments.models import Merchant
from payments.webhooks.transport.urls import check_notify_url

# A change holds everywhere after so long, as that of the terms of a key's merchant.
KEPT_SECONDS = 1.0
KEPT_COUNT = 10_000


def default_url(caller: Caller) -> str | None:
    """Return the default URL of the caller's merchant in its mode; None without one."""
    known = _read(caller.merchant_id) if caller.notify_urls is None else caller.notify_urls
    return known.get(_mode(caller.livemode))


@transaction.atomic
def set_default(merchant: Merchant, url: str, livemode: bool) -> None:
    """Set the default URL of one mode for events from now on; "" removes it. Raises ForbiddenUrl."""
    if url:
        check_notify_url(url, livemode)
    locked = Merchant.objects.select_for_update(no_key=True).get(id=merchant.id)
    before = locked.notify_urls.pop(_mode(livemode), "")
    if url:
        locked.notify_urls[_mode(livemode)] = url
    locked.updated_at = clock.now()
    locked.save(update_fields=["notify_urls", "updated_at"])
    # A query often holds a secret.
    shown = audit_log.change(*(each.partition("?")[0] for each in (before, url)))
    audit_log.record(
        Action.CHANGED,
        merchant,
        fields=["notify_urls"],
        detail=f"{_mode(livemode)} mode: {shown}",
        notice_of=merchant.id if livemode else None,
    )


@cached(TTLCache(KEPT_COUNT, KEPT_SECONDS), lock=Lock())
def _read(merchant_id: UUID) -> Mapping[str, str]:
    """Return the URLs for kaha itself, which acts on charges without a request."""
    found: Mapping[str, str] = Merchant.objects.values_list("notify_urls", flat=True).get(id=merchant_id)
    return found


def _mode(livemode: bool) -> str:
    return "live" if livemode else "test"
