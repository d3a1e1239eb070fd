from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

from payments.models import Charge


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's `key` (1..255 printable characters) and the keyed digest of the request it came with."""

    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a verb runs: one merchant in one mode, and the request if there was one.

    `rates` are the merchant's fees (see `payments.ledger.fees`), for whoever makes a charge.
    """

    merchant_id: UUID
    livemode: bool
    statement_descriptor: str = ""
    rates: Mapping[str, Any] = field(default_factory=dict)
    request_id: str = ""
    idempotency: IdempotencyKey | None = None

    @classmethod
    def service(cls, charge: Charge) -> Self:
        """kaha itself, acting on a charge without anybody's request."""
        return cls(charge.merchant_id, charge.livemode)
