"""An assistant in haste; people of the merchants' site who open its largest list at once, and strangers at its door."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from itertools import count
from typing import TYPE_CHECKING

import aiohttp

from tests.neighbours.attacks import address_of
from tests.neighbours.flood import OFFENDER, at_rate, running

if TYPE_CHECKING:
    from tests.neighbours.offences import Scene

PEOPLE, STRANGERS = 20, 200
SIGN_IN = "/merchant/login/"
WRONG = "a wrong one"
LIST = "/merchant/payments/charge/"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_charges", "arguments": {}}}
CALLS_PER_SECOND = 200
ASKED = (f"{LIST}?mode=test", f"{LIST}?mode=test&least=1&currency=PHP", f"{LIST}?mode=test&q=of+many", "/merchant/")
TOKEN = "t" * 32


def gather_people(scene: "Scene") -> None:
    """Make PEOPLE who work for the offender and are signed in, and many charges."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    from payments.models import MerchantAccess
    from tests.neighbours.offences import make_many_charges

    make_many_charges(scene)
    for number in range(PEOPLE):
        client, name = Client(), settings.SESSION_COOKIE_NAME
        user = User.objects.create(username=f"person{number}")
        MerchantAccess.objects.create(user=user, merchant=scene.offender.merchant, role=MerchantAccess.Role.OWNER)
        client.force_login(user)
        scene.cookies.append(f"{name}={client.cookies[name].value}; {settings.CSRF_COOKIE_NAME}={TOKEN}")


def crowd_of_people(scene: "Scene") -> AbstractContextManager[None]:
    """20 people of one merchant who each open lists, search and download without a pause."""
    return running(_browse, scene.url, scene.cookies)


def strangers_at_sign_in(scene: "Scene") -> AbstractContextManager[None]:
    """200 addresses that each open the sign-in page and send a wrong password, without a pause."""
    return running(_guess, scene.url)


async def _guess(url: str) -> None:
    async def one(number: int) -> None:
        connector = aiohttp.TCPConnector(limit=0, local_addr=(address_of(number), 0))
        headers = {"Cookie": f"csrftoken={TOKEN}", "X-CSRFToken": TOKEN, "Origin": url}
        async with aiohttp.ClientSession(url, connector=connector, headers=headers) as session:
            for attempt in count():
                guess = {"login": f"person{number}-{attempt}", "password": WRONG}
                for method in ("GET", "POST"):
                    with suppress(aiohttp.ClientError, TimeoutError):
                        async with session.request(method, SIGN_IN, data=guess) as response:
                            await response.read()

    await asyncio.gather(*(one(number) for number in range(STRANGERS)))


def hasty_assistant(scene: "Scene") -> AbstractContextManager[None]:
    """Call a tool CALLS_PER_SECOND times a second."""
    from payments.domain.merchants.api_keys import create_key

    _, text = create_key(scene.offender.merchant, False, "assistant", rights=["charges:read"])
    return running(_call, scene.url, text)


async def _call(url: str, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    connector = aiohttp.TCPConnector(limit=0, local_addr=(OFFENDER, 0))
    async with aiohttp.ClientSession(url, headers=headers, connector=connector) as session:

        async def call(_: int) -> None:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with session.post("/mcp", json=CALL) as response:
                    await response.read()

        await at_rate(CALLS_PER_SECOND, call)


async def _browse(url: str, cookies: Sequence[str]) -> None:
    async def one(number: int, cookie: str) -> None:
        connector = aiohttp.TCPConnector(limit=0, local_addr=(address_of(number), 0))
        headers = {"Cookie": cookie, "X-CSRFToken": TOKEN}
        async with aiohttp.ClientSession(url, connector=connector, headers=headers) as session:
            while True:
                for path in ASKED:
                    with suppress(aiohttp.ClientError, TimeoutError):
                        async with session.get(path) as response:
                            await response.read()
                with suppress(aiohttp.ClientError, TimeoutError):
                    async with session.post(f"{LIST}csv/?mode=test") as response:
                        await response.read()

    await asyncio.gather(*(one(number, cookie) for number, cookie in enumerate(cookies)))
