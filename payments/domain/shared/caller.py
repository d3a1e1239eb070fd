from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Self
from uuid import UUID

from cachetools import TTLCache, cached

from payments.domain.shared.errors import right_missing
from payments.models import Charge, Merchant, WebhookEndpoint
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
class RequestFacts:
    """The request for which a verb runs: its ID, the address that it came from, and its idempotency key, if any."""

    id: str = ""
    address: str = ""
    idempotency: IdempotencyKey | None = None


NO_REQUEST = RequestFacts()


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a verb runs: one merchant in one mode, by a key or a payer, and the request if there was one.

    `rights` are those of a restricted key; None is no limit. `merchant`, whose terms `merchant_of` returns, and
    `endpoints`, which get its events in this mode, are None where they were not read with the request.
    """

    merchant_id: UUID
    livemode: bool
    key_id: UUID | None = None
    rights: frozenset[str] | None = None
    request: RequestFacts = NO_REQUEST
    merchant: Merchant | None = None
    endpoints: Sequence[Endpoint] | None = None

    def require_right(self, right: str) -> None:
        """Raise PaymentError where the key that signed the request lacks `right`."""
        if self.rights is not None and right not in self.rights:
            raise right_missing(right)

    def under(self, idempotency: IdempotencyKey | None) -> Self:
        """Return the same caller with another idempotency key."""
        return replace(self, request=replace(self.request, idempotency=idempotency))

    @classmethod
    def service(cls, charge: Charge) -> Self:
        """Return kaha itself as the caller, which acts on a charge without a request."""
        return cls(charge.merchant_id, charge.livemode)


def merchant_of(caller: Caller) -> Merchant:
    """Return the caller's merchant, whose terms are as they were within the last second."""
    return _read_merchant(caller.merchant_id) if caller.merchant is None else caller.merchant


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


@cached(TTLCache(KEPT_COUNT, KEPT_SECONDS), lock=Lock())
def _read_merchant(merchant_id: UUID) -> Merchant:
    return Merchant.objects.get(id=merchant_id)
