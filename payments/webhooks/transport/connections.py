"""aiohttp's connections, limited to addresses that were checked before, and lenient to what follows a status line.

The host of the URL that aiohttp receives is made of the checked addresses. So nothing is left to look up, aiohttp's own
Happy Eyeballs (RFC 8305) choose among them, and its pool reuses a connection for the same checked addresses only.

Some frameworks send content with 204, "no content", although RFC 9110 forbids it. aiohttp's parser takes it for the
head of another answer. The receiver has accepted the event nevertheless.

Others send header lines longer than aiohttp takes, the same length twice, or break off. Their status has come before,
so it is read here first, and counts whatever aiohttp makes of the rest.
"""

import asyncio
import functools
import re
import socket
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, cast

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler

from payments.webhooks.transport.addresses import Address

NO_CONTENT = (b"HTTP/1.1 204", b"HTTP/1.0 204")
HEAD_END = b"\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r\n]")
# More than any framework sends; aiohttp's own limits are for each line.
HEAD_MAX_BYTES = 32 * 1024
CONTENT_TO_COME = re.compile(rb"\r\n(?:content-length:[ \t]*0*[1-9]|transfer-encoding:)", re.IGNORECASE)


@dataclass(slots=True)
class AnswerSoFar:
    """What a receiver has said so far: its status, once it has come, what was read of its body, and its headers."""

    status: int | None = None
    first_bytes: bytes = b""
    retry_after: int | None = None
    headers: str = ""
    # The head as far as it has come, without those of interim answers; None once it is whole.
    head: bytes | None = b""

    def take(self, data: bytes) -> bool:
        """Take the next bytes of an answer; return False where its head is longer than HEAD_MAX_BYTES."""
        if self.head is None:
            return True
        self.head += data
        while found := STATUS.match(self.head):
            is_final, (_, end, rest) = int(found[1]) >= HTTPStatus.OK, self.head.partition(HEAD_END)
            if is_final:
                self.status = int(found[1])
            if is_final and end:
                self.head = None
                return True
            if is_final or not end:
                break
            self.head = rest
        return len(self.head) <= HEAD_MAX_BYTES


# What the answer to the request of this task says.
current_answer: ContextVar[AnswerSoFar] = ContextVar("current_answer")


class AnswerReader(ResponseHandler):
    """A connection that notes each status at once.

    It closes after a 204 with content, because its next bytes may be more content.
    """

    answer: AnswerSoFar | None = None

    def data_received(self, data: bytes) -> None:
        if self.answer and not self.answer.take(data):
            self.close()
            self.set_exception(aiohttp.ClientPayloadError("The head of the answer is too long."))
            return
        if data.startswith(NO_CONTENT):
            data = self._without_content(data)
        super().data_received(data)

    def _without_content(self, data: bytes) -> bytes:
        head, end, content = data.partition(HEAD_END)
        if content or CONTENT_TO_COME.search(head):
            self.force_close()
        return head + end


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector with AnswerReader. It has no option for that."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        reader = functools.partial(AnswerReader, loop=asyncio.get_running_loop())
        self._factory = cast(functools.partial[ResponseHandler], reader)

    async def connect(self, *arguments: Any, **options: Any) -> aiohttp.connector.Connection:
        """Return a connection for the request of this task, which notes what is answered in `current_answer`."""
        connection = await super().connect(*arguments, **options)
        cast(AnswerReader, connection.protocol).answer = current_answer.get()
        return connection


def host_of(addresses: Sequence[Address]) -> str:
    """Return the host that stands for these addresses: `x7f000001` for 127.0.0.1."""
    return ".".join(f"x{address.packed.hex()}" for address in addresses)


class AddressesInHost(AbstractResolver):
    """A resolver that reads the addresses out of such a host; ValueError for any other."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [_result(host, port, ip_address(bytes.fromhex(label.removeprefix("x")))) for label in host.split(".")]

    async def close(self) -> None:
        """Close nothing: it holds no resource."""


def _result(host: str, port: int, address: Address) -> ResolveResult:
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    return ResolveResult(hostname=host, host=str(address), port=port, family=family, proto=0, flags=0)
