"""Whether anything is charged twice or lost when processes are killed at every step and connections cut in every way.

History `number` of a seed can be replayed alone: `--seed SEED --first-history NUMBER --operations 1`.
"""

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial, reduce
from itertools import count
from multiprocessing.connection import Connection
from operator import add
from random import Random

from django.conf import settings
from django.db import connection

from payments.domain.merchants.merchants import create_merchant
from payments.domain.operators import four_eyes
from tests.charging.doubles import provider
from tests.faults.checkouts import run_checkout
from tests.faults.connector import RemoteSimulator
from tests.faults.histories import run_history
from tests.faults.processes import Broke, forked
from tests.faults.tallies import Tally, broken_invariants
from tests.faults.world import world
from tests.high_limits import MANY_DECLINES, NOBODY_IS_NEW

PROGRESS_OPERATIONS = 100


HISTORIES = {"charges": run_history, "checkouts": run_checkout}


def faults(operations: int, first_history: int, seed: int, of: str) -> dict[str, object]:
    """Draw histories `of` charges or checkouts from `seed` until at least so many `operations` were done.

    They are drawn on all processors.
    """
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    four_eyes.NEW_FOR = NOBODY_IS_NEW
    started = time.monotonic()
    lanes = min(os.cpu_count() or 1, operations)
    connection.close()
    for lane in range(lanes):
        connection.creation.clone_test_db(str(lane), verbosity=0)
    with ExitStack() as stack:
        run = partial(_run_lane, of, seed, -(-operations // lanes))
        numbers = [count(first_history + lane, lanes) for lane in range(lanes)]
        pipes = [stack.enter_context(forked(partial(run, lane, each))) for lane, each in enumerate(numbers)]
        tallies = [_received(pipe) for pipe in pipes]
    return reduce(add, tallies).figures() | {"seed": seed, "seconds": round(time.monotonic() - started)}


def _received(pipe: Connection) -> Tally:
    received: Tally | Broke = pipe.recv()
    assert not isinstance(received, Broke), received.traceback
    return received


def _run_lane(of: str, seed: int, operations: int, lane: int, numbers: Iterator[int], pipe: Connection) -> None:
    """Run the histories of these `numbers` in a database of its own, so that each can be replayed alone."""
    connection.creation.setup_worker_connection(lane)
    with world() as made, provider(RemoteSimulator(made.provider_port)):
        shop, tally, shown = create_merchant("Sari Store"), Tally(), 0
        while tally.done.total() < operations:
            number = next(numbers)
            tally.add(number, HISTORIES[of](made, shop, Random(f"{seed} {number}")))
            if tally.done.total() // PROGRESS_OPERATIONS > shown:
                shown = tally.done.total() // PROGRESS_OPERATIONS
                print(f"{tally.done.total()} of {operations}: {len(tally.findings)} findings", file=sys.stderr)
        tally.broken = broken_invariants()
        pipe.send(tally)
