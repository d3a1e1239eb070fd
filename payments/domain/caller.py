from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

from payments.domain.errors import right_missing
from payments.models import Charge


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
