"""Webhook endpoints for tests, without the API."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from payments import clock
from payments.domain.webhooks import endpoints
from payments.models import Merchant, Webhook, WebhookEndpoint
from payments.webhooks import claim_connection, claims
from payments.webhooks.attempt_rules import finished_attempt
from payments.webhooks.claims import NOTHING_CLAIMED, RECEIVER_LIMIT, Claimed, Shares
from payments.webhooks.scan_window import EVERYTHING, Span
from payments.webhooks.transport.results import Answer

URL, OTHER = "https://shop.example/kaha?token=s3cret", "https://elsewhere.example/kaha"


def add_endpoint(
    merchant: Merchant, url: str = URL, events: tuple[str, ...] = ("*",), livemode: bool = False, **members: Any
) -> WebhookEndpoint:
    """Return a new endpoint of the merchant."""
    return add_with_secret(merchant, url, events, livemode, **members)[0]


def add_with_secret(
    merchant: Merchant, url: str = URL, events: tuple[str, ...] = ("*",), livemode: bool = False, **members: Any
) -> tuple[WebhookEndpoint, str]:
    """Return a new endpoint of the merchant, and its secret."""
    return endpoints.add(merchant.id, livemode, url=url, enabled_events=list(events), **members)


def only() -> Webhook:
    """Return the only webhook."""
    return Webhook.objects.get()


def claim(limit: int = 2000, now: datetime | None = None, shares: Shares = NOTHING_CLAIMED) -> list[Claimed]:
    """Claim like a worker that dies afterwards."""

    async def ask() -> list[Claimed]:
        async with await claim_connection.connect() as database:
            found = await claims.claim(database, limit, now or clock.now(), EVERYTHING, shares, {})
            return found.batch

    return asyncio.run(ask())


def parts_of_claim(span: Span) -> set[str]:
    """Return the partitions that PostgreSQL opens for a claim."""
    return {scan["Relation Name"] for scan in scans(asyncio.run(plan_of_claim(span)))}


def scans(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "Scan" in node["Node Type"] and "Relation Name" in node:
        yield node
    for below in node.get("Plans", []):
        yield from scans(below)


async def plan_of_claim(span: Span, limit: int = RECEIVER_LIMIT) -> dict[str, Any]:
    """How PostgreSQL makes a claim, which it does."""
    now = clock.now()
    params = claims.parameters(limit, now, span, NOTHING_CLAIMED, {}) | {"lease": now}
    return await _plan(claims.CLAIM, params)


async def plan_of_record(batch: Sequence[Claimed]) -> dict[str, Any]:
    """How PostgreSQL puts down that all of them were delivered, which it does."""
    now = clock.now()
    tries = [finished_attempt(claimed, Answer(200, b"", 1, None), now, now, 0.5) for claimed in batch]
    return await _plan(claims.RECORD, [list(column) for column in zip(*tries, strict=True)])


async def _plan(sql: str, params: Any) -> dict[str, Any]:
    async with await claim_connection.connect() as database, claim_connection.planned(database):
        cursor = await database.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", params)
        [[[explained]]] = await cursor.fetchall()
    return dict(explained["Plan"])


def record_answer(claimed: Claimed, status: int) -> None:
    async def ask() -> None:
        async with await claim_connection.connect() as database:
            answer = finished_attempt(claimed, Answer(status, b"", 1, None), clock.now(), clock.now(), 0.5)
            await claims.record(database, [answer])

    asyncio.run(ask())
