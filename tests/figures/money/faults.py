"""Whether anything is charged twice or lost when processes are killed at every step and connections cut in every way.

History `number` of a seed can be replayed alone: `--seed SEED --first-history NUMBER --operations 1`.
"""

import logging
import sys
import time
from collections.abc import Iterator
from functools import partial, reduce
from itertools import count
from operator import add
from random import Random

from django.conf import settings

from payments.domain.merchants.merchants import create_merchant
from payments.domain.operators import four_eyes
from tests.charging.doubles import provider
from tests.faults.checkouts import run_checkout
from tests.faults.connector import RemoteSimulator
from tests.faults.histories import run_history
from tests.faults.tallies import Tally, broken_invariants
from tests.faults.world import world
from tests.figures.lanes import lanes_for, results_of
from tests.high_limits import MANY_DECLINES, NOBODY_IS_NEW

PROGRESS_OPERATIONS = 100
HISTORIES = {"charges": run_history, "checkouts": run_checkout, "collected": partial(run_checkout, order="collected")}


def faults(operations: int, first_history: int, seed: int, of: str) -> dict[str, object]:
    """Draw histories `of` charges, checkouts or collected requests, until at least so many `operations` were done.

    They are drawn from `seed`, on all processors.
    """
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    four_eyes.NEW_FOR = NOBODY_IS_NEW
    started = time.monotonic()
    lanes = lanes_for(operations)
    run = partial(_tally, of, seed, -(-operations // lanes))
    tallies = results_of(lambda lane: run(count(first_history + lane, lanes)), lanes)
    return reduce(add, tallies).figures() | {"seed": seed, "seconds": round(time.monotonic() - started)}


def _tally(of: str, seed: int, operations: int, numbers: Iterator[int]) -> Tally:
    """Run the histories of these `numbers` in a database of its own, so that each can be replayed alone."""
    with world() as made, provider(RemoteSimulator(made.provider_port)):
        shop, tally, shown = create_merchant("Sari Store"), Tally(), 0
        while tally.done.total() < operations:
            number = next(numbers)
            tally.add(number, HISTORIES[of](made, shop, Random(f"{seed} {number}")))
            if tally.done.total() // PROGRESS_OPERATIONS > shown:
                shown = tally.done.total() // PROGRESS_OPERATIONS
                print(f"{tally.done.total()} of {operations}: {len(tally.findings)} findings", file=sys.stderr)
        tally.broken = broken_invariants()
        return tally
