"""A merchant's program that speaks HTTP to a real server, many requests at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.client import APPROVED, CARD_FIELDS

ASK_AGAIN_SECONDS = 0.05
# Refusals that pass by themselves; the last is that of bodies which come late, from too many clients at one address.
PASSING = {"resource_busy", "idempotency_key_in_use", "rate_limited"}


@dataclass(frozen=True)
class Answer:
    """What a request was answered."""

    status: int
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))

    @property
    def code(self) -> str:
        """Return the code of a refusal, empty where it was done."""
        return "" if self.status < 400 else str(self.body["error"]["code"])


class Program:
    """Sends requests with one secret key over as many connections as it needs."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self.sent = 0

    async def post(self, path: str, body: dict[str, Any] | None = None, key: str = "") -> Answer:
        """Send once. Raise what aiohttp raises where no answer comes."""
        self.sent += 1
        headers = {"Idempotency-Key": key} if key else {}
        async with self._session.post(f"/v2{path}", json=body or {}, headers=headers) as response:
            return Answer(response.status, await response.read())

    async def ask(self, path: str, body: dict[str, Any] | None = None, key: str = "") -> Answer:
        """Send until the answer is none of those that pass by themselves."""
        while (answer := await self.post(path, body, key)).code in PASSING:
            await asyncio.sleep(ASK_AGAIN_SECONDS)
        return answer

    async def source(self, key: str = "") -> str:
        """Return the ID of a new source, whose card is approved without a challenge."""
        answer = await self.ask("/sources/", {"type": "card", "card": {**CARD_FIELDS, "number": APPROVED}}, key)
        assert not answer.code, answer
        return str(answer.body["id"])

    async def charge(self, amount: int, capture: bool = True) -> dict[str, Any]:
        """Return a new charge on a new source."""
        answer = await self.ask("/charges/", order(await self.source(), amount, capture))
        assert not answer.code, answer
        return answer.body


def order(source: str, amount: int, capture: bool = True) -> dict[str, Any]:
    """Return the body that charges a source."""
    return {"amount": amount, "source": source, "description": "One of many", "capture": capture}


@asynccontextmanager
async def program(url: str, key: str, timeout_seconds: float = 120) -> AsyncIterator[Program]:
    """Yield a program that asks the server at `url` with the secret `key`."""
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=timeout_seconds)
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(url, headers=headers, connector=connector, timeout=timeout) as session:
        yield Program(session)
