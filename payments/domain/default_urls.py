"""Reads merchants' default notify URLs: where events go whose source has none."""

from collections.abc import Mapping
from threading import Lock
from uuid import UUID

from cachetools import TTLCache, cached

from payments.domain.caller import Caller
from payments.models import Merchant

# A change holds everywhere after so long, as that of the terms of a key's merchant.
KEPT_SECONDS = 1.0
KEPT_COUNT = 10_000


def default_url(caller: Caller) -> str | None:
    """Return the default URL of the caller's merchant in its mode; None without one."""
    known = _read(caller.merchant_id) if caller.notify_urls is None else caller.notify_urls
    return known.get(mode_name(caller.livemode))


def mode_name(livemode: bool) -> str:
    """Return the name of a mode: "live" or "test"."""
    return "live" if livemode else "test"


@cached(TTLCache(KEPT_COUNT, KEPT_SECONDS), lock=Lock())
def _read(merchant_id: UUID) -> Mapping[str, str]:
    """Return the URLs for kaha itself, which acts on charges without a request."""
    found: Mapping[str, str] = Merchant.objects.values_list("notify_urls", flat=True).get(id=merchant_id)
    return found
