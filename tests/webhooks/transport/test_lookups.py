"""Names whose servers never answer, and who waits for them."""

import asyncio
from collections.abc import Awaitable

from payments.webhooks.transport.name_lookup import Lookup, Lookups

WAIT_SECONDS = 30


class NameServer:
    """Answers every name but those that end in `.hangs`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer_all = asyncio.Event()

    async def __call__(self, name: str) -> list[str]:
        self.asked.append(name)
        if name.endswith(".hangs"):
            await self.answer_all.wait()
        return ["127.0.0.1"]


async def settled(started: list["asyncio.Task[object]"]) -> None:
    """Let all that can continue do so."""
    for _ in range(10 * len(started)):
        await asyncio.sleep(0)


def ask(lookups: Lookups, owner: str, count: int, slow: bool = False) -> list["asyncio.Task[object]"]:
    names = [f"{owner}{number}.hangs" for number in range(count)]
    asked: list[Awaitable[object]] = [lookups.addresses_of(name, Lookup(owner, slow)) for name in names]
    return [asyncio.ensure_future(each) for each in asked]


def test_a_merchants_hanging_names_hold_half_of_the_threads_and_anothers_name_is_asked_at_once() -> None:
    async def run() -> None:
        server = NameServer()
        lookups = Lookups(server)
        hanging = ask(lookups, "one", 200)
        await settled(hanging)
        assert len(server.asked) == 64
        async with asyncio.timeout(WAIT_SECONDS):
            assert await lookups.addresses_of("shop.example", Lookup("other", slow=False))
        server.answer_all.set()
        async with asyncio.timeout(WAIT_SECONDS):
            await asyncio.gather(*hanging)
        assert len(server.asked) == 201

    asyncio.run(run())


def test_a_lookup_that_ends_gives_one_place_of_its_merchant_back_and_no_other() -> None:
    async def run() -> None:
        server = NameServer()
        lookups = Lookups(server)
        hanging = ask(lookups, "one", 10)
        await settled(hanging)
        await lookups.addresses_of("shop.example", Lookup("one", slow=False))
        hanging += ask(lookups, "one", 200)
        await settled(hanging)
        assert len(server.asked) == 64 + 1
        server.answer_all.set()
        await asyncio.gather(*hanging)

    asyncio.run(run())


def test_names_of_slow_receivers_leave_threads_to_others_of_the_same_merchant() -> None:
    async def run() -> None:
        server = NameServer()
        lookups = Lookups(server)
        hanging = ask(lookups, "one", 200, slow=True)
        await settled(hanging)
        assert len(server.asked) == 25
        async with asyncio.timeout(WAIT_SECONDS):
            assert await lookups.addresses_of("shop.example", Lookup("one", slow=False))
        server.answer_all.set()
        async with asyncio.timeout(WAIT_SECONDS):
            await asyncio.gather(*hanging)

    asyncio.run(run())


def test_a_name_that_hangs_for_one_merchant_is_asked_anew_for_another() -> None:
    async def run() -> None:
        server = NameServer()
        lookups = Lookups(server)
        hanging = [*ask(lookups, "one", 1), *ask(lookups, "one", 1)]
        other = asyncio.ensure_future(lookups.addresses_of("one0.hangs", Lookup("other", slow=False)))
        await settled([*hanging, other])
        assert server.asked == ["one0.hangs"] * 2
        server.answer_all.set()
        await asyncio.gather(*hanging, other)

    asyncio.run(run())


def test_a_lookup_that_nobody_waits_for_any_more_is_not_begun() -> None:
    async def run() -> None:
        server = NameServer()
        lookups = Lookups(server)
        hanging = ask(lookups, "one", 70)
        await settled(hanging)
        for late in hanging[64:]:
            late.cancel()
        server.answer_all.set()
        await asyncio.gather(*hanging, return_exceptions=True)
        assert len(server.asked) == 64

    asyncio.run(run())
