"""Names that mean one thing when they are checked and another when they are called."""

import asyncio
from collections.abc import Sequence

import pytest

from payments.webhooks.transport.client import Limits, Transport
from payments.webhooks.transport.results import Answer, Failure
from tests.webhooks.transport.nameserver import Nameserver, nameserver
from tests.webhooks.transport.receivers import BODY, HEADERS, Receiver, receiver

ONCE = [("shop.example", "A"), ("shop.example", "AAAA")]


def tries(
    count: int, turns: Sequence[list[str] | None], url: str = "http://shop.example:{port}/"
) -> tuple[list[str], Receiver, Nameserver]:
    """Return the results of successive attempts while shop.example resolves by turns; a receiver listens everywhere."""

    async def try_them() -> tuple[list[str], Receiver, Nameserver]:
        async with receiver(host="") as shop, nameserver(shop=turns) as names, Transport(names.resolve) as transport:
            whither = url.format(port=shop.port)
            came = [await transport.send(whither, BODY, HEADERS, livemode=False) for _ in range(count)]
            return [_shortly(result) for result in came], shop, names

    return asyncio.run(try_them())


def _shortly(result: Answer | Failure) -> str:
    return str(result.status) if isinstance(result, Answer) else result.kind


def test_a_name_is_asked_for_once_and_the_first_answer_is_called() -> None:
    came, shop, names = tries(1, [["127.0.0.2"], ["127.0.0.1"]])
    assert (came, shop.sockets, names.asked) == (["200"], ["127.0.0.2"], ONCE)


def test_every_try_asks_anew() -> None:
    _, _, names = tries(3, [["127.0.0.2"]])
    assert names.asked == ONCE * 3


def test_a_kept_connection_does_not_help_a_name_that_turned_forbidden() -> None:
    came, shop, _ = tries(2, [["127.0.0.2"], ["10.0.0.1"]])
    assert (came, shop.sockets, len(shop.requests)) == (["200", "forbidden_address"], ["127.0.0.2"], 1)


def test_a_kept_connection_serves_the_address_that_was_checked_and_no_other() -> None:
    came, shop, _ = tries(3, [["127.0.0.2"], ["127.0.0.1"], ["127.0.0.2"]])
    assert (came, shop.sockets, len(shop.requests)) == (["200"] * 3, ["127.0.0.2", "127.0.0.1"], 3)


def test_a_name_that_changes_all_the_time_is_called_only_when_it_may_be() -> None:
    came, shop, _ = tries(20, [["127.0.0.2"], ["0.0.0.0"]] * 10)
    assert came == ["200", "forbidden_address"] * 10
    assert set(shop.sockets) == {"127.0.0.2"}


@pytest.mark.parametrize("other", ["10.0.0.1", "0.0.0.0", "fd00::1", "::ffff:7f00:1", "fe80::1"])
def test_one_forbidden_answer_among_good_ones_refuses_the_try(other: str) -> None:
    came, shop, _ = tries(1, [["127.0.0.2", other]])
    assert (came, shop.sockets) == (["forbidden_address"], [])


@pytest.mark.parametrize(
    ("url", "came"),
    [
        ("http://127.0.0.1:{port}/", "200"),
        ("http://10.0.0.1:{port}/", "forbidden_address"),
        ("http://0x7f.1:{port}/", "forbidden_url"),
        ("http://user@shop.example:{port}/", "forbidden_url"),
    ],
)
def test_addresses_and_forbidden_urls_are_never_asked_for(url: str, came: str) -> None:
    results, _, names = tries(1, [["127.0.0.2"]], url)
    assert (results, names.asked) == ([came], [])


def test_a_name_without_addresses_is_not_found() -> None:
    came, shop, _ = tries(1, [[]])
    assert (came, shop.sockets) == (["name_not_found"], [])


@pytest.mark.long
def test_a_name_whose_server_is_silent_holds_up_nobody_else() -> None:
    async def with_a_silent_one() -> tuple[list[str], list[str], Nameserver]:
        async with (
            receiver() as shop,
            nameserver(silent=[None], shop=[["127.0.0.1"]]) as names,
            Transport(names.resolve, limits=Limits(total_seconds=1.0)) as transport,
        ):
            silent, good = (f"http://{name}.example:{shop.port}/" for name in ("silent", "shop"))
            waiting = [asyncio.create_task(transport.send(silent, BODY, HEADERS, livemode=False)) for _ in range(50)]
            meanwhile = [await transport.send(good, BODY, HEADERS, livemode=False) for _ in range(5)]
            assert not any(task.done() for task in waiting)
            late = await asyncio.gather(*waiting)
            return [_shortly(result) for result in meanwhile], [_shortly(result) for result in late], names

    meanwhile, late, names = asyncio.run(with_a_silent_one())
    assert (meanwhile, late) == (["200"] * 5, ["name_timeout"] * 50)
    assert names.asked.count(("silent.example", "A")) == 1
