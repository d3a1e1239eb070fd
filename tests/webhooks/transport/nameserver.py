"""A DNS server that changes its mind, and a resolver that asks it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from dnslib import AAAA, QTYPE, RR, A, DNSRecord


class Nameserver(asyncio.DatagramProtocol):
    """Answers the lookups of each name, one after the other, with its `turns`; the last one stays.

    A turn is a list of addresses of both families; None leaves the questions unanswered.
    """

    def __init__(self, turns: dict[str, Sequence[list[str] | None]]) -> None:
        self._turns = {name: list(of_name) for name, of_name in turns.items()}
        self._current: dict[str, list[str] | None] = {}
        self.asked: list[tuple[str, str]] = []

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self._transport = transport
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        question = DNSRecord.parse(data)
        name, kind = str(question.q.qname).rstrip("."), QTYPE[question.q.qtype]
        self.asked.append((name, kind))
        if kind == "A":
            self._take_turn(name)
        addresses = self._current[name]
        if addresses is not None:
            self._transport.sendto(_reply(question, name, kind, addresses).pack(), addr)

    async def resolve(self, name: str) -> list[str]:
        """All addresses of `name`, asked for over the wire as the system's resolver does."""
        records = [record for kind in ("A", "AAAA") for record in (await self._ask(name, kind)).rr]
        return [str(record.rdata) for record in records]

    async def _ask(self, name: str, kind: str) -> DNSRecord:
        waiting = _Waiting()
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: waiting, remote_addr=("127.0.0.1", self.port)
        )
        try:
            transport.sendto(DNSRecord.question(name, kind).pack())
            return DNSRecord.parse(await waiting.answer)
        finally:
            transport.close()

    def _take_turn(self, name: str) -> None:
        turns = self._turns[name]
        self._current[name] = turns.pop(0) if len(turns) > 1 else turns[0]


class _Waiting(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.answer.set_result(data)


def _reply(question: DNSRecord, name: str, kind: str, addresses: list[str]) -> DNSRecord:
    reply = question.reply()
    for address in addresses:
        data = AAAA(address) if ":" in address else A(address)
        if type(data).__name__ == kind:
            reply.add_answer(RR(name, question.q.qtype, rdata=data, ttl=0))
    return reply


@asynccontextmanager
async def nameserver(**turns: Sequence[list[str] | None]) -> AsyncIterator[Nameserver]:
    """Run a server for the zone `example`: `shop=[["127.0.0.1"], []]` is the turns of shop.example."""
    transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Nameserver({f"{name}.example": of_name for name, of_name in turns.items()}), local_addr=("127.0.0.1", 0)
    )
    try:
        yield server
    finally:
        transport.close()
