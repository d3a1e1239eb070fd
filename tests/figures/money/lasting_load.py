"""Programs that charge, capture and refund whatever they are answered, and remember what was acknowledged."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import aiohttp

from tests.client import APPROVED, CARD_FIELDS
from tests.figures.money.merchant_program import Answer, Program, order, program

CLIENTS = 10
AMOUNT = 1000
ASK_AGAIN_SECONDS = 0.1
# What section 4 of the contract lets a request answer that is right and whose turn it is.
PASSING = {(409, "resource_busy"), (409, "idempotency_key_in_use")}
UNDONE = {(500, "internal_error"), (503, "provider_unavailable"), (503, "internal_error")}
# A charge that was pending may have failed by the time that its capture or refund is asked.
REFUSED = {(409, "charge_not_capturable"), (409, "charge_not_refundable")}


def name_of(number: int) -> str:
    """Return the description of an order's charge."""
    return f"Order {number}"


class Load:
    """Ten programs at once; after the block of `on`, what each order was answered."""

    def __init__(self, key: str, seed: int, redirect: dict[str, str] | None = None) -> None:
        self._key, self._seed = key, seed
        self._source = {"type": "card", "card": {**CARD_FIELDS, "number": APPROVED}}
        if redirect:
            self._source["redirect"] = redirect
        self._ended = threading.Event()
        self._started = 0
        self.acknowledged: dict[str, dict[str, Any]] = {}
        self.abandoned: list[int] = []
        self.answers: Counter[str] = Counter()
        self.undocumented: list[str] = []

    @contextmanager
    def on(self, url: str) -> Iterator[None]:
        """Orders come in until the block ends, and those begun are taken to their end."""
        thread = threading.Thread(target=lambda: asyncio.run(self._run(url)))
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    async def _run(self, url: str) -> None:
        async with program(url, self._key) as shop:
            await asyncio.gather(*(self._work(shop) for _ in range(CLIENTS)))

    async def _work(self, shop: Program) -> None:
        while not self._ended.is_set():
            self._started += 1
            await self._take(shop, self._started)

    async def _take(self, shop: Program, number: int) -> None:
        chance = Random(f"{self._seed} {number}")
        source = await self._send(shop, "/sources/", self._source, f"{number}-source")
        body = order(source["id"], AMOUNT, capture=chance.random() < 0.5) | {"description": name_of(number)}
        charge = await self._send(shop, "/charges/", body, f"{number}-charge", gives_up=chance.random() < 0.5)
        if not charge:
            self.abandoned.append(number)
            return
        self.acknowledged[charge["id"]] = charge
        verbs = ["refund", "refund"] if charge["captured"] else ["capture", "refund"]
        for step, verb in enumerate(verbs):
            key = f"{number}-{verb}-{step}"
            body = {"amount": chance.randint(800, 1000)} if verb == "capture" else {"amount": 300, "reason": key}
            if not (charge := await self._send(shop, f"/charges/{charge['id']}/{verb}", body, key)):
                return
            self.acknowledged[charge["id"]] = charge

    async def _send(
        self, shop: Program, path: str, body: dict[str, Any], key: str, gives_up: bool = False
    ) -> dict[str, Any]:
        """Return the object in the answer, or {} where it was refused, or given up because the first answer was 5xx."""
        while True:
            answer = await self._once(shop, path, body, key)
            if answer and not answer.code:
                return answer.body
            if answer and ((answer.status, answer.code) in REFUSED or (gives_up and answer.status >= 500)):
                return {}
            gives_up = False
            await asyncio.sleep(ASK_AGAIN_SECONDS)

    async def _once(self, shop: Program, path: str, body: dict[str, Any], key: str) -> Answer | None:
        try:
            answer = await self._post(shop, path, body, key)
            outcome = (answer.status, answer.code)
        except (aiohttp.ClientError, TimeoutError, ValueError, KeyError) as error:
            self.undocumented.append(f"{path}: {error!r}")
            return None
        self.answers[f"{outcome[0]} {outcome[1]}".strip()] += 1
        if answer.status not in (200, 201) and outcome not in PASSING | UNDONE | REFUSED:
            self.undocumented.append(f"{path}: {outcome}")
        return answer

    async def _post(self, shop: Program, path: str, body: dict[str, Any], key: str) -> Answer:
        return await shop.post(path, body, key)
