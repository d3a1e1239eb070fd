"""Clients that send every request several times: at once, and after time-outs on which they gave up too early."""

import asyncio
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from payments.domain.merchants.merchants import create_merchant
from payments.models import Charge, IdempotencyRecord, Source
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment
from tests.client import APPROVED, CARD_FIELDS
from tests.faults.tallies import broken_invariants
from tests.figures.money.merchant_program import Answer, Program, order, program
from tests.support.web import web_server

MOST_SENDINGS = 5
PATIENCE_SECONDS = (0.001, 0.2)
CLIENTS = 20
# Of a charge of 1000, so that none is ever too large.
AMOUNTS = {"capture": (800, 1000), "refund": (1, 400)}


def resending(folder: Path, orders: int, seed: int) -> dict[str, object]:
    """Have twenty clients complete `orders` orders, each request sent one to five times under one key."""
    key = create_merchant("Sari Store").keys["sk_test"]
    with web_server(folder) as url:
        counts = asyncio.run(_run(url, key, orders, seed))
    asked = {"charges": Charge, "sources": Source, "keys": IdempotencyRecord}
    at_provider = {"payments_at_the_provider": SimulatedPayment, "operations_at_the_provider": SimulatedOperation}
    rows = {name: model._default_manager.count() for name, model in (asked | at_provider).items()}
    return {"orders": orders, "seed": seed, **counts, **rows, "broken_invariants": broken_invariants()}


async def _run(url: str, key: str, orders: int, seed: int) -> Counter[str]:
    waiting, counts = iter(range(orders)), Counter(other_bytes=0)
    async with program(url, key) as shop:

        async def client() -> None:
            for number in waiting:
                await Order(shop, number, Random(f"{seed} {number}"), counts).run()

        await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return counts


class Order:
    """One order of a shop: a source, a charge, and the operations on it."""

    def __init__(self, shop: Program, number: int, chance: Random, counts: Counter[str]) -> None:
        self._shop, self._number, self._chance, self._counts = shop, number, chance, counts
        self._requests = 0

    async def run(self) -> None:
        """Complete the order, and count what was sent and how it was answered."""
        source = await self._send("/sources/", {"type": "card", "card": {**CARD_FIELDS, "number": APPROVED}})
        charge = await self._send("/charges/", order(source["id"], 1000, capture=self._chance.random() < 0.5))
        verbs = ["refund", "refund"] if charge["captured"] else ["capture", "refund"]
        for verb in verbs[: self._chance.randint(0, 2)]:
            amount = self._chance.randint(*AMOUNTS[verb])
            await self._send(f"/charges/{charge['id']}/{verb}", {"amount": amount})
            self._counts["operations"] += 1

    async def _send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send one to five times, then until it is answered; every answer must be the same."""
        self._requests += 1
        key = f"order-{self._number}-{self._requests}"
        sendings = self._chance.randint(1, MOST_SENDINGS)
        patient = [self._chance.random() < 0.5 for _ in range(sendings)]
        answers = await asyncio.gather(*(self._once(path, body, key, waits) for waits in patient))
        last = await self._shop.ask(path, body, key)
        assert not last.code, last
        self._counts["requests"] += 1
        self._counts["sendings"] += sendings + 1
        self._counts["other_bytes"] += any(answer.raw != last.raw for answer in answers if answer)
        return last.body

    async def _once(self, path: str, body: dict[str, Any], key: str, waits: bool) -> Answer | None:
        """Return the answer, or None where the client gave up or was refused for now."""
        if waits:
            await asyncio.sleep(self._chance.uniform(*PATIENCE_SECONDS))
            return await self._shop.ask(path, body, key)
        try:
            answer = await asyncio.wait_for(self._shop.post(path, body, key), self._chance.uniform(*PATIENCE_SECONDS))
        except TimeoutError:
            self._counts["given_up"] += 1
            return None
        return None if answer.code else answer
