from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self
from uuid import UUID

from cachetools import TTLCache, cached

from payments.domain.shared.errors import right_missing
from payments.models import Charge, WebhookEndpoint
from payments.webhooks.outbox import Endpoint

# A change of an endpoint holds everywhere after so long, as that of the terms of a key's merchant.
KEPT_SECONDS = 1.0
KEPT_COUNT = 10_000


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's `key` (1..255 printable characters) and the keyed digest of the request it came with.

    `is_own` is one that we made for a part of the request.
    """

    key: str
    fingerprint: bytes
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a verb runs: one merchant in one mode, and the request if there was one.

    `rates` and `payment_methods` are the merchant's terms (see `terms`), which a charge or a source needs, and
    `endpoints` those that get its events in this mode, `send_receipts` its choice; None where they have to be read.
    A request has the `key_id` that signed it and the `address` that it came from, which count declines, and
    the merchant's own `decline_budget` if there is one. `rights` are those of a restricted key; None is no limit.
    """

    merchant_id: UUID
    livemode: bool
    statement_descriptor: str = ""
    rates: Mapping[str, Any] = field(default_factory=dict)
    payment_methods: Mapping[str, Any] = field(default_factory=dict)
    send_receipts: bool | None = None
    endpoints: Sequence[Endpoint] | None = None
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


def endpoints_of(caller: Caller) -> Sequence[Endpoint]:
    """Return the endpoints that get events of the caller's merchant in its mode."""
    return _read(caller.merchant_id, caller.livemode) if caller.endpoints is None else caller.endpoints


def mode_name(livemode: bool) -> str:
    """Return the name of a mode: "live" or "test"."""
    return "live" if livemode else "test"


def read_endpoints(merchant_id: UUID, livemode: bool) -> Sequence[Endpoint]:
    """Return the endpoints of a merchant and mode for which webhooks are written, as they are now."""
    rows = WebhookEndpoint.objects.of(merchant_id, livemode).written_for().order_by("id")
    return [Endpoint(*row) for row in rows.values_list(*Endpoint._fields)]


# For kaha itself, which acts on charges without a request.
_read = cached(TTLCache(KEPT_COUNT, KEPT_SECONDS), lock=Lock())(read_endpoints)
