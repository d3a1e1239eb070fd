"""Sending one event, to receivers that behave and to receivers that do not."""

import asyncio
import random
import socket
import time
from pathlib import Path

import pytest

from payments import VERSION
from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer, Failure
from tests.support.processes import PATIENCE_SECONDS
from tests.webhooks.transport.receivers import (
    BODY,
    HEADERS,
    OK,
    SHORT,
    Behaviour,
    Receiver,
    always,
    announced,
    answered,
    drip,
    receiver,
    response,
    send,
    then_close,
    then_hang,
)


def test_the_receiver_gets_exactly_the_body_and_the_headers() -> None:
    _, shop = announced(OK)
    [request] = shop.requests
    assert (request.line, request.body) == ("POST /hook HTTP/1.1", BODY)
    assert request.headers == {
        "host": f"127.0.0.1:{shop.port}",
        "content-type": "application/json",
        "content-length": str(len(BODY)),
        "user-agent": f"kaha/{VERSION}",
        "accept": "*/*",
        "webhook-id": "evt_1",
    }


def test_the_time_is_measured() -> None:
    async def after_50_ms(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        writer.write(OK)

    began = time.monotonic()
    milliseconds = answered(after_50_ms).milliseconds
    assert 50 <= milliseconds <= (time.monotonic() - began) * 1000 + 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    async def redirected() -> tuple[Answer | Failure, Receiver]:
        async with receiver() as elsewhere, receiver(response(status, Location=elsewhere.url)) as shop:
            return await send(shop.url), elsewhere

    result, elsewhere = asyncio.run(redirected())
    assert isinstance(result, Answer)
    assert (result.status, result.is_proper, elsewhere.sockets) == (status, False, [])


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(then_hang(), "timeout", id="silence"),
        pytest.param(then_hang(b"HTTP/1.1 20"), "timeout", id="half a status"),
        pytest.param(drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout", id="endless interim answers"),
        pytest.param(then_close(b""), "disconnected", id="hanging up"),
        pytest.param(then_close(b"HTTP/1.1 20"), "disconnected", id="hanging up in the status"),
        pytest.param(then_close(b"HTTP/1.1 103 Early Hints\r\n\r\n"), "disconnected", id="an interim answer alone"),
        pytest.param(then_close(b"SSH-2.0-OpenSSH_9.2\r\n"), "bad_answer", id="another protocol"),
        pytest.param(then_close(b"\x15\x03\x01\x00\x02\x02\x46"), "bad_answer", id="a TLS alert"),
        pytest.param(then_close(b"HTTP/1.1 OK\r\n\r\n"), "bad_answer", id="no status"),
        pytest.param(then_close(b"HTTP/1.1 2000 OK\r\n\r\n"), "bad_answer", id="a long status"),
    ],
)
def test_a_receiver_that_does_not_answer_properly_is_distinguished(answer: Behaviour, kind: str) -> None:
    result, _ = announced(answer, SHORT)
    assert isinstance(result, Failure)
    assert result.kind == kind


@pytest.mark.long
def test_whatever_a_receiver_sends_comes_to_a_result() -> None:
    chance = random.Random(20260101)
    pieces = [b"HTTP/1.1 ", b"200", b" OK", b"\r\n", b"\r\n\r\n", b"Content-Length: 5", b"Transfer-Encoding: chunked"]
    pieces += [b"Set-Cookie: =;;=", b"Retry-After: x", b"Location: http://[", b"Content-Type: ;;", b"\x00", b"\xff\xfe"]
    pieces += [b"5\r\nhello\r\n", b"0\r\n\r\n", b"HTTP/1.1 101 Up\r\nUpgrade: x", b"Connection: upgrade", b"-1"]

    async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await then_close(b"".join(chance.choices(pieces, k=chance.randrange(1, 12))))(reader, writer)

    async def try_often() -> list[Answer | Failure]:
        async with receiver(garbage) as shop, Transport() as transport:
            return [await transport.send(shop.url, BODY, HEADERS, livemode=False) for _ in range(500)]

    results = asyncio.run(try_often())
    assert {type(result) for result in results} == {Answer, Failure}


def test_a_port_where_nobody_listens_fails_to_connect() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        result = asyncio.run(send(f"http://127.0.0.1:{taken.getsockname()[1]}/"))
    assert isinstance(result, Failure)
    assert result.kind == "connect_failed"
    assert "Connect call failed" in result.reason


def test_connecting_has_a_time_limit_of_its_own() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        # Linux lets no more handshakes through once the queue of a listener that accepts nobody is full.
        full.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        result = asyncio.run(send(f"http://127.0.0.1:{full.getsockname()[1]}/", limits=SHORT))
    assert isinstance(result, Failure)
    assert result.kind == "connect_timeout"
    assert result.milliseconds >= 300


@pytest.mark.long
def test_the_total_limits_the_whole_try() -> None:
    result, _ = announced(then_hang(), SHORT)
    assert result.milliseconds >= 600


def test_no_cookie_is_sent_back() -> None:
    async def twice() -> Receiver:
        async with receiver(response(200, Set_Cookie="a=b; Path=/")) as shop, Transport() as transport:
            for _ in range(2):
                await transport.send(shop.url, BODY, HEADERS, livemode=False)
        return shop

    assert ["cookie" in request.headers for request in asyncio.run(twice()).requests] == [False, False]


def test_proxies_and_passwords_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def with_a_proxy_about() -> tuple[Receiver, Receiver]:
        async with receiver() as shop, receiver() as proxy:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, proxy.url)
            monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
            (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
            await send(shop.url)
            return shop, proxy

    shop, proxy = asyncio.run(with_a_proxy_about())
    assert proxy.sockets == []
    assert "authorization" not in shop.requests[0].headers


def test_a_connection_is_kept_for_the_next_event() -> None:
    async def several() -> Receiver:
        async with receiver() as shop, Transport() as transport:
            for _ in range(5):
                await transport.send(shop.url, BODY, HEADERS, livemode=False)
        return shop

    shop = asyncio.run(several())
    assert (len(shop.requests), len(shop.sockets)) == (5, 1)


def test_an_answer_that_was_not_read_to_its_end_closes_its_connection() -> None:
    closed = asyncio.Event()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await drip(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000, seconds=0)(reader, writer)
        finally:
            closed.set()

    async def until_closed() -> Answer | Failure:
        async with receiver(endless) as shop, Transport() as transport:
            result = await transport.send(shop.url, BODY, HEADERS, livemode=False)
            await asyncio.wait_for(closed.wait(), timeout=PATIENCE_SECONDS)
            return result

    assert isinstance(asyncio.run(until_closed()), Answer)


def test_the_next_address_of_a_name_is_tried_where_the_first_does_not_answer() -> None:
    async def second_best() -> tuple[Answer | Failure, Receiver]:
        async with receiver() as shop:
            return await send(f"http://shop.example:{shop.port}/", resolve=always("127.0.0.2", "127.0.0.1")), shop

    result, shop = asyncio.run(second_best())
    assert isinstance(result, Answer)
    assert shop.sockets == ["127.0.0.1"]


def test_a_name_that_does_not_exist_is_reported_with_the_systems_reason() -> None:
    async def resolve(name: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    result = asyncio.run(send("http://shop.example/", resolve=resolve))
    assert isinstance(result, Failure)
    assert result.kind == "name_not_found"
    assert "Name or service not known" in result.reason
