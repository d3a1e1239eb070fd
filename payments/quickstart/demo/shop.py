"""A made-up merchant, and what its charges have in common."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from random import Random
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from payments.domain.caller import Caller, IdempotencyKey
from payments.ids import new_id, public_id
from payments.models import ApiKey, Merchant, Settlement, Source
from payments.quickstart.demo.rows import Rows
from payments.vault import request_fingerprint

Outage = tuple[datetime, datetime]
# Of the sources kept for customers, those that are charged again.
KEPT_COUNT = 2000


@dataclass
class Shop:
    """A merchant in test mode, and two operators. At `outages` the receiver of its callbacks answers nobody."""

    merchant: Merchant
    random: Random
    notify_url: str = ""
    outages: Sequence[Outage] = ()
    operators: Sequence[User] = ()
    kept: deque[Source] = field(default_factory=lambda: deque(maxlen=KEPT_COUNT))
    orders: int = 0
    _settlements: dict[tuple[str, date], Settlement] = field(default_factory=dict)

    def caller(self, key: str = "") -> Caller:
        """The merchant's program, with a new request under the idempotency key `key`."""
        terms: dict[str, Any] = {
            "rates": self.merchant.rates,
            "payment_methods": self.merchant.payment_method_settings,
            "statement_descriptor": self.merchant.statement_descriptor,
        }
        idempotency = IdempotencyKey(key, request_fingerprint("POST", "/v2/charges", key.encode())) if key else None
        terms |= {"request_id": public_id("req", new_id()), "key_id": self._key_id}
        return Caller(self.merchant.id, False, idempotency=idempotency, **terms)

    @cached_property
    def _key_id(self) -> UUID | None:
        keys = self.merchant.keys.filter(livemode=False, kind=ApiKey.Kind.SECRET)
        return keys.values_list("id", flat=True).first()

    def settlement(self, currency: str, day: date, rows: Rows) -> Settlement:
        """The shop's settlement of that day, which goes to `rows` when it is the first time."""
        if (currency, day) not in self._settlements:
            settlement = Settlement(merchant=self.merchant, livemode=False, currency=currency, day=day)
            self._settlements[currency, day] = settlement
            rows.add(settlement)
        return self._settlements[currency, day]

    def next_order(self) -> int:
        """The number of the shop's next order."""
        self.orders += 1
        return 1000 + self.orders
