"""Where nothing may be sent, nothing arrives: a real listener on every address of this machine waits in vain."""

import asyncio
import socket
from ipaddress import ip_address

import pytest

from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.name_lookup import Resolver
from payments.webhooks.transport.results import Answer, Failure
from tests.webhooks.transport.hostile import ASTRAY, FORBIDDEN
from tests.webhooks.transport.receivers import BODY, HEADERS, Receiver, always, receiver, send

LOOPBACK = ["127.0.0.1", "127.0.0.2", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]"]
LOOPBACK += ["[0000:0000:0000:0000:0000:0000:0000:0001]"]
IPV6_WAYS = ["::1", "::", "::ffff:127.0.0.1"] if socket.has_dualstack_ipv6() else []


async def send_all(
    settings, shop: Receiver, urls: list[str], resolve: Resolver, livemode: bool
) -> dict[str, Answer | Failure]:
    """Return the result of an attempt at each URL, all on the receiver's port."""
    settings.NOTIFY_PORTS = [str(shop.port)]
    urls = [url.replace("{port}", str(shop.port)) for url in urls]
    if livemode:
        urls = [url.replace("http://", "https://") for url in urls]
    async with Transport(resolve) as transport:
        results = await asyncio.gather(*(transport.send(url, BODY, HEADERS, livemode) for url in urls))
    return dict(zip(urls, results, strict=True))


def let_through(results: dict[str, Answer | Failure]) -> dict[str, Answer | Failure]:
    refusals = ("forbidden_url", "forbidden_address")
    return {url: came for url, came in results.items() if not (isinstance(came, Failure) and came.kind in refusals)}


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "0.0.0.0", *IPV6_WAYS])
def test_who_checks_nothing_reaches_the_listener(address: str) -> None:
    async def call() -> bytes:
        async with receiver(host="") as shop:
            reader, writer = await asyncio.open_connection(address, shop.port)
            writer.write(b"POST / HTTP/1.1\r\n\r\n")
            answer = await reader.readline()
            writer.close()
            return answer

    assert asyncio.run(call()) == b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(("livemode", "loopback"), [(True, False), (True, True), (False, False)])
def test_no_hostile_url_reaches_this_machine(settings, livemode: bool, loopback: bool) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = loopback

    async def try_all() -> tuple[dict[str, Answer | Failure], Receiver]:
        async with receiver(host="") as shop:
            return await send_all(settings, shop, FORBIDDEN + ASTRAY, always("127.0.0.1"), livemode), shop

    results, shop = asyncio.run(try_all())
    assert let_through(results) == {}
    assert shop.sockets == []


def test_allowing_loopback_opens_exactly_loopback(settings) -> None:
    async def try_all() -> tuple[dict[str, Answer | Failure], Receiver]:
        async with receiver(host="") as shop:
            return await send_all(settings, shop, FORBIDDEN + ASTRAY, always("192.168.0.1"), livemode=False), shop

    results, shop = asyncio.run(try_all())
    assert set(let_through(results)) == {f"http://{host}:{shop.port}/" for host in LOOPBACK}
    assert len(shop.sockets) <= len(LOOPBACK)


@pytest.mark.parametrize("forbidden", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:5db8:d70e", "fe80::1%lo"])
@pytest.mark.parametrize("first", [True, False])
def test_one_forbidden_address_refuses_the_whole_try(forbidden: str, first: bool) -> None:
    public = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]
    addresses = [forbidden, *public] if first else [*public, forbidden]
    result = asyncio.run(send("https://shop.example/", livemode=True, resolve=always(*addresses)))
    assert isinstance(result, Failure)
    assert result.kind == "forbidden_address"
    assert result.reason.startswith(str(ip_address(forbidden)))


def test_a_refusal_says_why() -> None:
    result = asyncio.run(send("https://169.254.169.254/", livemode=True))
    assert isinstance(result, Failure)
    assert result.reason == "169.254.169.254: cloud metadata"


def test_a_name_may_mean_this_machine_in_test_mode_when_loopback_is_allowed() -> None:
    async def call() -> tuple[Answer | Failure, Receiver]:
        async with receiver() as shop:
            return await send(f"http://localhost:{shop.port}/"), shop

    result, shop = asyncio.run(call())
    assert isinstance(result, Answer)
    assert shop.requests[0].headers["host"] == f"localhost:{shop.port}"
