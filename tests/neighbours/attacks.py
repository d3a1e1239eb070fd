"""What an offender's process does; each runs until the process is killed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Any
from uuid import uuid4

import aiohttp

from tests.client import APPROVED, CARD_FIELDS, DECLINED
from tests.neighbours.flood import OFFENDER, Sender, address_of, at_rate

ORDER = {
    "success_url": "https://shop.example/thanks",
    "cancel_url": "https://shop.example/cart",
    "currency": "PHP",
    "line_items": [{"name": "Halo-halo", "amount": 12_500, "quantity": 2}],
    "payment_method_types": ["card", "gcash", "maya", "grabpay", "qrph", "bpi", "bdo", "unionbank"],
}
PROVIDER_WEBHOOK = f"/providers/pa_{uuid4().hex}/webhooks"
# What a merchant's program may ask of a charge before the next one is taken.
REFUNDS_OF_ONE_CHARGE = 90
CHARGES = 6
PAUSE_SECONDS = 1.0
FILTERS = (
    "status=failed&captured=true",
    "status=voided",
    "status=refunded&captured=true",
    "authorized=true",
    "created_at[gte]=2001-01-01T00:00:00Z&created_at[lt]=2001-01-02T00:00:00Z",
)


def half_body(path: str, headers: str = "") -> bytes:
    """Return a request whose chunked body begins and never ends."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}"
    return (head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n").encode()


async def refund_one_charge(url: str, key: str, per_second: float) -> None:
    """Refund 1 of a charge, 24 times at once and then at a steady rate."""
    async with Sender(url, key) as sender:
        charges = [await _charge(sender) for _ in range(CHARGES)]

        async def refund(number: int) -> None:
            charge = charges[number // REFUNDS_OF_ONE_CHARGE % CHARGES]
            await sender.send("POST", f"/charges/{charge}/refund", {"amount": 1})

        await at_rate(per_second, refund, first_at_once=24)


async def make_charges(url: str, key: str, count: int) -> None:
    async with Sender(url, key) as sender:
        for _ in range(count):
            await _charge(sender)


async def charge_wallet(url: str, key: str, per_second: float, at_once: int) -> None:
    async with Sender(url, key) as sender:

        async def charge(_: int) -> None:
            await _order(sender, {"type": "gcash"})

        await at_rate(per_second, charge, first_at_once=at_once)


async def charge_with_notify(url: str, key: str, per_second: float, receivers: Sequence[str]) -> None:
    turns = cycle(receivers)
    async with Sender(url, key) as sender:

        async def charge(_: int) -> None:
            redirect = {"success": "https://s.example", "fail": "https://f.example", "notify": next(turns)}
            await _order(sender, {**_card(APPROVED), "redirect": redirect})

        await at_rate(per_second, charge)


async def charge_declined(url: str, key: str, per_second: float) -> None:
    async with Sender(url, key) as sender:

        async def charge(_: int) -> None:
            await _order(sender, _card(DECLINED))

        await at_rate(per_second, charge)


async def read_source(url: str, key: str, per_second: float) -> None:
    async with Sender(url, key) as sender:

        async def read(_: int) -> None:
            await sender.send("GET", f"/sources/src_{uuid4().hex}")

        await at_rate(per_second, read)


async def open_page(url: str, key: str, per_second: float) -> None:
    """Open the page of a checkout session again and again, as a browser without a key."""
    async with Sender(url, key) as sender:
        session = await sender.send("POST", "/checkout_sessions/", ORDER)
    connector = aiohttp.TCPConnector(limit=0, local_addr=(OFFENDER, 0))
    async with aiohttp.ClientSession(url, headers={"Accept": "text/html"}, connector=connector) as browser:

        async def open_once(_: int) -> None:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with browser.get(f"/checkout/{session['id']}") as response:
                    await response.read()

        await at_rate(per_second, open_once)


async def reserve(url: str, link: str, per_second: float) -> None:
    """Take 400 pieces of a link again and again, each time as a browser that was never there."""
    connector, jar = aiohttp.TCPConnector(limit=0, local_addr=(OFFENDER, 0)), aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(url, connector=connector, cookie_jar=jar) as browser:

        async def take(_: int) -> None:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with browser.post(link, data={"quantity-0": "400"}, allow_redirects=False) as response:
                    await response.read()

        await at_rate(per_second, take)


async def send_test_events(url: str, key: str, receiver: str, per_second: float) -> None:
    """Have test events be sent to an endpoint at `receiver`."""
    async with Sender(url, key) as sender:
        endpoint = await sender.send(
            "POST", "/webhook_endpoints/", {"url": receiver, "enabled_events": ["charge.failed"]}
        )

        async def send(_: int) -> None:
            await sender.send("POST", f"/webhook_endpoints/{endpoint['id']}/test")

        await at_rate(per_second, send)


async def wait_for_events(url: str, key: str, per_second: float) -> None:
    """Ask for the next event, for half a minute each time, without waiting for the answer before."""
    async with Sender(url, key) as sender:

        async def wait(_: int) -> None:
            await sender.send("GET", "/events/?wait=30")

        await at_rate(per_second, wait)


async def list_by_filters(url: str, key: str, per_second: float) -> None:
    async with Sender(url, key) as sender:

        async def ask(number: int) -> None:
            await sender.send("GET", f"/charges/?{FILTERS[number % len(FILTERS)]}")

        await at_rate(per_second, ask)


async def crowd(
    url: str, keys: Sequence[str], work: Callable[[Sender], Awaitable[object]], begins_seconds: float
) -> None:
    """Have each of many merchants do `work` again and again, one request at a time, from an address of its own.

    One after another begins, the last after `begins_seconds`.
    """

    async def one(number: int, key: str) -> None:
        await asyncio.sleep(begins_seconds * number / len(keys))
        async with Sender(url, key, address_of(number)) as sender:
            while True:
                await work(sender)
                await asyncio.sleep(PAUSE_SECONDS)

    await asyncio.gather(*(one(number, key) for number, key in enumerate(keys)))


async def wait_once(sender: Sender) -> None:
    await sender.send("GET", "/events/?wait=30")


async def list_once(sender: Sender) -> None:
    await sender.send("GET", f"/charges/?{FILTERS[0]}")


async def charge_wallet_once(sender: Sender) -> None:
    await _order(sender, {"type": "gcash"})


async def export(url: str, path: str, cookies: Sequence[str], begins_seconds: float) -> None:
    """Have each of many operators download a file again and again, and read it slowly; they begin as `crowd` does."""

    async def one(number: int, cookie: str) -> None:
        await asyncio.sleep(begins_seconds * number / len(cookies))
        connector = aiohttp.TCPConnector(limit=0, local_addr=(address_of(number), 0))
        async with aiohttp.ClientSession(url, connector=connector, headers={"Cookie": cookie}) as session:
            while True:
                with suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(path) as response:
                        while await response.content.read(1_000):
                            await asyncio.sleep(PAUSE_SECONDS)
                await asyncio.sleep(PAUSE_SECONDS)

    await asyncio.gather(*(one(number, cookie) for number, cookie in enumerate(cookies)))


def _card(number: str) -> dict[str, Any]:
    return {"type": "card", "card": {**CARD_FIELDS, "number": number}}


async def _order(sender: Sender, source: dict[str, Any], amount: int = 1000) -> dict[str, Any]:
    made = await sender.send("POST", "/sources/", source)
    if not made:
        return {}
    body = {"amount": amount, "source": made["id"], "description": "One of many", "capture": True}
    return await sender.send("POST", "/charges/", body)


async def _charge(sender: Sender) -> str:
    return str((await _order(sender, _card(APPROVED), 1_000_000))["id"])
