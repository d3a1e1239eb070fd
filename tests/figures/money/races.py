"""Many clients at once, over HTTP, on one charge, one source, or one idempotency key, round after round."""

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from django.db import connection
from django.db.models import Sum

from payments.domain.merchants.merchants import create_merchant
from payments.models import Charge
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment
from tests.faults.tallies import broken_invariants
from tests.figures.money.merchant_program import Answer, Program, order, program
from tests.support.web import web_server

AMOUNT = 1000
MOST_REFUNDED = 250
Figure = dict[str, object]
Play = Callable[[Program, Random], Awaitable[Counter[str]]]


def refunds(folder: Path, rounds: int, clients: int, seed: int) -> Figure:
    """Have `clients` refund parts of one charge at once in each round, together more than was captured."""
    with watch() as seen:
        figure = _play(folder, rounds, seed, lambda shop, chance: _refund(shop, chance, clients))
    return figure | {
        "samples": seen.samples,
        "over": seen.over,
        "refunded_otherwise_than_answered": figure["refunded"] - _sum_refunded(Charge),
        "given_back_otherwise_than_answered": figure["refunded"] - _sum_refunded(SimulatedPayment),
    }


def sources(folder: Path, rounds: int, clients: int, seed: int) -> Figure:
    """Have `clients` charge one source at once in each round."""
    figure = _play(folder, rounds, seed, lambda shop, chance: _use(shop, chance, clients))
    return figure | {"charges": Charge.objects.count(), "payments_at_the_provider": SimulatedPayment.objects.count()}


def keys(folder: Path, rounds: int, clients: int, seed: int) -> Figure:
    """Have `clients` send one request under one key at once in each round, each until it is answered."""
    figure = _play(folder, rounds, seed, lambda shop, chance: _repeat(shop, chance, clients))
    return figure | {"payments_and_operations_at_the_provider": _asked_of_provider()}


def _play(folder: Path, rounds: int, seed: int, play: Play) -> Figure:
    key, chance = create_merchant("Sari Store").keys["sk_test"], Random(seed)

    async def play_all(url: str) -> Counter[str]:
        async with program(url, key) as shop:
            return sum([await play(shop, chance) for _ in range(rounds)], Counter())

    with web_server(folder) as url:
        counts = asyncio.run(play_all(url))
    return {"rounds": rounds, "seed": seed, **counts, "broken_invariants": broken_invariants()}


async def _refund(shop: Program, chance: Random, clients: int) -> Counter[str]:
    charge = await shop.charge(AMOUNT)
    amounts = [chance.randint(1, MOST_REFUNDED) for _ in range(clients)]
    answers = await asyncio.gather(*(shop.ask(f"/charges/{charge['id']}/refund", {"amount": each}) for each in amounts))
    done = [amount for amount, answer in zip(amounts, answers, strict=True) if not answer.code]
    return _codes(answers) + Counter(refunded=sum(done))


async def _use(shop: Program, chance: Random, clients: int) -> Counter[str]:
    source = await shop.source()
    orders = [order(source, chance.randint(1, AMOUNT)) for _ in range(clients)]
    answers = await asyncio.gather(*(shop.ask("/charges/", each) for each in orders))
    winners = sum(not answer.code for answer in answers)
    return _codes(answers) + Counter(one_winner=int(winners == 1), other_than_one_winner=int(winners != 1))


async def _repeat(shop: Program, chance: Random, clients: int) -> Counter[str]:
    path, body, before = await _some_request(shop, chance)
    key = f"round-{chance.getrandbits(64)}"
    answers = await asyncio.gather(*(shop.ask(path, body, key) for _ in range(clients)))
    bodies = Counter(equal_bytes=1) if len({answer.raw for answer in answers}) == 1 else Counter(other_bytes=1)
    return _codes(answers) + bodies + Counter(expected_at_the_provider=before + 1)


async def _some_request(shop: Program, chance: Random) -> tuple[str, dict[str, object], int]:
    """Return the path and body of a request to be made, and how often the provider was asked before it."""
    verb = chance.choice(["charge", "capture", "void", "refund"])
    if verb == "charge":
        return "/charges/", order(await shop.source(), AMOUNT), 0
    charge = await shop.charge(AMOUNT, capture=verb == "refund")
    body = {} if verb == "void" else {"amount": chance.randint(1, AMOUNT)}
    return f"/charges/{charge['id']}/{verb}", body, 1


def _codes(answers: list[Answer]) -> Counter[str]:
    return Counter(answer.code or "done" for answer in answers)


def _sum_refunded(model: type[Charge] | type[SimulatedPayment]) -> int:
    return int(model._default_manager.aggregate(total=Sum("amount_refunded"))["total"] or 0)


def _asked_of_provider() -> int:
    return SimulatedPayment.objects.count() + SimulatedOperation.objects.count()


# Each count is one statement, so all of it is seen at one moment.
OVER = """
SELECT
    (SELECT count(*) FROM payments_charge WHERE amount_refunded > amount_captured)
    + (SELECT count(*) FROM payments_charge c JOIN (
        SELECT charge_id, sum(amount) AS amount FROM payments_refund WHERE status <> 'failed' GROUP BY charge_id
    ) r ON r.charge_id = c.id WHERE r.amount > c.amount_captured)
    + (SELECT count(*) FROM (
        SELECT sum(CASE kind WHEN 'refund' THEN amount WHEN 'refund_returned' THEN -amount ELSE 0 END) AS given_back,
            sum(CASE kind WHEN 'capture' THEN amount ELSE 0 END) AS taken
        FROM simulator_entry GROUP BY payment_id
    ) books WHERE given_back > taken)
"""


# Leaves the others a processor to work on.
PAUSE_SECONDS = 0.01


@dataclass
class Watch:
    """How often somebody looked, and how many charges were over then, in our rows or in the provider's books."""

    samples: int = 0
    over: int = 0


@contextmanager
def watch() -> Iterator[Watch]:
    """Look from a thread of its own until the block ends."""
    seen, ended = Watch(), threading.Event()
    thread = threading.Thread(target=_look, args=(seen, ended))
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def _look(seen: Watch, ended: threading.Event) -> None:
    try:
        while not ended.is_set():
            with connection.cursor() as cursor:
                cursor.execute(OVER)
                seen.over += cursor.fetchone()[0]
            seen.samples += 1
            ended.wait(PAUSE_SECONDS)
    finally:
        connection.close()
