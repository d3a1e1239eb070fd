"""What is read from an answer."""

import asyncio
import gzip
import random
from datetime import timedelta
from email.utils import format_datetime
from unittest.mock import ANY

import pytest

from payments import clock
from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer, Failure
from tests.webhooks.transport.receivers import (
    BELIEVED,
    BODY,
    HEAD,
    HEADERS,
    OK,
    SHORT,
    Behaviour,
    Receiver,
    announced,
    answered,
    drip,
    receiver,
    response,
    then_close,
    then_hang,
)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_a_proper_answer(status: int) -> None:
    answer = answered(response(status))
    assert (answer.status, answer.is_proper) == (status, True)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 204 No Content\r\ncontent-length:2\r\n\r\nok",
        b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n{}",
    ],
    ids=["with its length", "of HTTP/1.0", "chunked", "unannounced"],
)
def test_a_204_with_content_that_it_must_not_have_is_a_proper_answer_too(answer: bytes) -> None:
    assert answered(answer) == Answer(204, b"", ANY, None)


def test_content_that_comes_after_its_204_is_not_taken_for_the_next_answer() -> None:
    async def no_content(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n")
        await writer.drain()
        writer.write(b"ok")

    async def several() -> tuple[list[Answer | Failure], Receiver]:
        async with receiver(no_content) as shop, Transport() as transport:
            return [await transport.send(shop.url, BODY, HEADERS, livemode=False) for _ in range(5)], shop

    results, shop = asyncio.run(several())
    assert results == [Answer(204, b"", ANY, None)] * 5
    assert len(shop.sockets) == 5


def test_a_204_without_content_keeps_its_connection() -> None:
    async def several() -> Receiver:
        async with receiver(response(204)) as shop, Transport() as transport:
            for _ in range(5):
                await transport.send(shop.url, BODY, HEADERS, livemode=False)
        return shop

    assert len(asyncio.run(several()).sockets) == 1


@pytest.mark.parametrize("answer", BELIEVED.values(), ids=BELIEVED.keys())
def test_a_status_is_believed_whatever_follows_it(answer: bytes) -> None:
    assert answered(then_close(answer)).status == 200


@pytest.mark.long
@pytest.mark.parametrize(
    "answer",
    [
        then_hang(HEAD + b"Content-"),
        then_hang(HEAD + b"Content-Length: 2\r\n\r\no"),
        drip(HEAD, b"X-More: 1\r\n"),
        drip(HEAD + b"\r\n", b"x"),
        drip(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
    ids=["half a head", "half a body", "an endless head", "an endless body", "endless chunks"],
)
def test_a_status_counts_when_the_time_for_the_rest_is_over(answer: Behaviour) -> None:
    result, _ = announced(answer, SHORT)
    assert isinstance(result, Answer)
    assert result.status == 200


def test_the_status_of_a_refusal_that_breaks_off_is_shown() -> None:
    refusal = b"HTTP/1.1 503 Busy\r\nContent-Length: 20\r\nRetry-After: 120\r\n\r\nback"
    answer = answered(then_close(refusal))
    assert (answer.status, answer.retry_after) == (503, 120)


@pytest.mark.parametrize("status", [300, 304, 400, 404, 410, 429, 500, 503])
def test_another_status_is_not(status: int) -> None:
    answer = answered(response(status))
    assert (answer.status, answer.is_proper) == (status, False)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wednesday, 21-Oct-15 07:28:00 GMT", 0),
        ("Wed Oct 21 07:28:00 2015", 0),
        ("-1", None),
        ("1.5", None),
        ("1" * 5000, None),
        ("soon", None),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
        ("\u0661\u0662", None),
        ("", None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(header: str, seconds: int | None) -> None:
    assert answered(response(503, Retry_After=header)).retry_after == seconds


def test_retry_after_may_name_a_moment_to_come() -> None:
    moment = clock.now() + timedelta(seconds=100)
    seconds = answered(response(429, Retry_After=format_datetime(moment, usegmt=True))).retry_after
    assert seconds in range(95, 101)


def test_an_answer_without_retry_after_asks_for_nothing() -> None:
    assert answered(OK).retry_after is None


@pytest.mark.parametrize("length", [0, 2047, 2048, 2049, 16 * 1024])
def test_the_first_2048_bytes_of_an_answer_are_kept(length: int) -> None:
    body = random.Random(length).randbytes(length)
    assert answered(response(200, body)).first_bytes == body[:2048]


def test_an_endless_answer_counts_as_soon_as_16_kib_are_read() -> None:
    answer = answered(drip(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000, seconds=0))
    assert (answer.status, answer.first_bytes) == (200, b"x" * 2048)


def test_a_packed_answer_stays_packed() -> None:
    packed = gzip.compress(bytes(10_000_000))
    assert answered(response(200, packed, Content_Encoding="gzip")).first_bytes == packed[:2048]
