"""aiohttp's connections, limited to addresses that were checked before, and lenient to a 204 with content.

The host of the URL that aiohttp receives is made of the checked addresses. So nothing is left to look up, aiohttp's own
Happy Eyeballs (RFC 8305) choose among them, and its pool reuses a connection for the same checked addresses only.

Some frameworks send content with 204, "no content", although RFC 9110 forbids it. aiohttp's parser takes it for the
head of another answer. The receiver has accepted the event nevertheless.
"""

import functools
import re
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any, cast

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler

from payments.webhooks.transport.addresses import Address

NO_CONTENT = (b"HTTP/1.1 204", b"HTTP/1.0 204")
HEAD_END = b"\r\n\r\n"
CONTENT_TO_COME = re.compile(rb"\r\n(?:content-length:[ \t]*0*[1-9]|transfer-encoding:)", re.IGNORECASE)


class AnswerReader(ResponseHandler):
    """A connection that closes after such an answer, because its next bytes may be more content."""

    def data_received(self, data: bytes) -> None:
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
        self._factory = cast(functools.partial[ResponseHandler], functools.partial(AnswerReader, loop=self._loop))


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
