"""The load, against a server that answers as a test wants it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from payments.quickstart.ports import HOST
from tests.benchmark.clients.load import answers_to

BODY = '{"object":"charge","id":"ch_01a20085320373fe92bf404f3111f4e4"}'
REQUESTS = [f"GET /{number} HTTP/1.1\r\n\r\n" for number in range(5)]


def answer(status: int = 200, body: str = BODY) -> bytes:
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def done(reply: Callable[[bytes], bytes], *, connections: int = 2, again: bool = False, seconds: float = 60) -> Any:
    """Return what the load says of `REQUESTS`, each of which is answered with `reply`, in two pieces."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.read(1000):
            whole = reply(request)
            for piece in (whole[:30], whole[30:]):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()

    async def run() -> Any:
        async with await asyncio.start_server(serve, HOST, 0) as server:
            port = server.sockets[0].getsockname()[1]
            size = {"connections": connections, "seconds": seconds, "again": again}
            pace = {"spread_seconds": 0, "pause_seconds": 0}
            return await answers_to({"port": port, "requests": REQUESTS, **size, **pace})

    return asyncio.run(run())


def test_each_request_is_sent_once() -> None:
    paths: list[bytes] = []
    found = done(lambda request: paths.append(request.split()[1]) or answer())
    assert sorted(paths) == [b"/0", b"/1", b"/2", b"/3", b"/4"]
    assert len(found["latencies_seconds"]) == 5


def test_each_answer_is_known_by_its_id() -> None:
    assert done(lambda _: answer())["ids"] == ["ch_01a20085320373fe92bf404f3111f4e4"] * 5


def test_requests_that_may_be_sent_again_are_sent_until_time_is_over() -> None:
    found = done(lambda _: answer(), again=True, seconds=0.2)
    assert len(found["latencies_seconds"]) > len(REQUESTS)
    assert found["seconds"] >= 0.2


def test_a_request_that_is_refused_ends_it_and_is_reported() -> None:
    sent: list[bytes] = []
    found = done(lambda request: sent.append(request) or answer(500, "broken"), connections=1)
    assert found["refused"] == "500 broken"
    assert len(sent) == 1


def test_an_answer_without_a_length_is_no_answer() -> None:
    with pytest.raises(ValueError, match="does not say how long"):
        done(lambda _: b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 30)
