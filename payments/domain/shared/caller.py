from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self
from uuid import UUID

from cachetools import TTLCache, cached

from payments.domain.shared.errors import right_missing
from payments.models import Charge, Merchant

# A change of a default URL holds everywhere after so long, as that of the terms of a key's merchant.
KEPT_SECONDS = 1.0
KEPT_COUNT = 10_000


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's `key` (1..255 printable characters) and the keyed digest of the request it came with."""

    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a verb runs: one merchant in one mode, and the request if there was one.

    `rates` and `payment_methods` are the merchant's terms (see `terms`), which a charge or a source needs, and
    `notify_urls` its default URLs by mode; None where they have to be read.
    A request has the `key_id` that signed it and the `address` that it came from, which count declines, and
    the merchant's own `decline_budget` if there is one. `rights` are those of a restricted key; None is no limit.
    """

    merchant_id: UUID
    livemode: bool
    statement_descriptor: str = ""
    rates: Mapping[str, Any] = field(default_factory=dict)
    payment_methods: Mapping[str, Any] = field(default_factory=dict)
    notify_urls: Mapping[str, str] | None = None
    request_id: str = ""
    idempotency: IdempotencyKey | None = None
    key_id: UUID | None = None
    address: str = ""
    decline_budget: int | None = None
    rights: frozenset[str] | None = None

    def require_right(self, right: str) -> None:
        """Raise PaymentError where the key that signed the request lacks `right`."""
        if self.rights is not None and right not in self.rights:
            raise right_missing(right)

    @classmethod
    def service(cls, charge: Charge) -> Self:
        """Return kaha itself as the caller, which acts on a charge without a request."""
        return cls(charge.merchant_id, charge.livemode)


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
