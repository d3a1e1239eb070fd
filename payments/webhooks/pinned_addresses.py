"""Makes aiohttp connect to addresses that were checked before, and to nothing else.

In the URL that aiohttp is given, the addresses themselves stand for the host. So nothing is left to look up, the
best of them is found by its own Happy Eyeballs (RFC 8305), and, as the host is part of the key of its pool, a kept
connection is used again for the same checked addresses only.
"""

import socket
from collections.abc import Sequence
from ipaddress import ip_address

from aiohttp.abc import AbstractResolver, ResolveResult

from payments.webhooks.addresses import Address


def host_of(addresses: Sequence[Address]) -> str:
    """Return the host that stands for these addresses: `x7f000001` for 127.0.0.1."""
    return ".".join(f"x{address.packed.hex()}" for address in addresses)


class AddressesInHost(AbstractResolver):
    """Reads the addresses out of such a host; raises ValueError for any other."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [_result(host, port, ip_address(bytes.fromhex(label.removeprefix("x")))) for label in host.split(".")]

    async def close(self) -> None:
        """Close nothing: it holds no resource."""


def _result(host: str, port: int, address: Address) -> ResolveResult:
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    return ResolveResult(hostname=host, host=str(address), port=port, family=family, proto=0, flags=0)
