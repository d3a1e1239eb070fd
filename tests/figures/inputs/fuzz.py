"""Requests that are wrong in every way, by the hundred thousand, on all cores.

Batch `number` of a seed can be run alone: `--seed SEED --first-batch NUMBER --cases 1`, which is rounded up to a batch.
"""

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial, reduce
from itertools import count, islice
from multiprocessing.connection import Connection
from operator import add

from django.conf import settings
from django.db import connection

from tests.faults.processes import Broke, forked
from tests.fuzz.runner import Tally, run_cases

# Of one merchant, whose charges and sources are used up in time.
BATCH = 500


def fuzz(cases: int, first_batch: int, seed: int) -> dict[str, object]:
    """Draw `cases` requests from `seed`, send them, and count the answers and the faults."""
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = "1000000/second"
    started = time.monotonic()
    batches = -(-cases // BATCH)
    lanes = min(os.cpu_count() or 1, batches)
    connection.close()
    for lane in range(lanes):
        connection.creation.clone_test_db(str(lane), verbosity=0)
    with ExitStack() as stack:
        numbers = [islice(count(first_batch), lane, batches, lanes) for lane in range(lanes)]
        runs = [partial(_run_lane, seed, lane, each) for lane, each in enumerate(numbers)]
        pipes = [stack.enter_context(forked(run)) for run in runs]
        tally = reduce(add, map(_received, pipes))
    return tally.figures() | {"seed": seed, "seconds": round(time.monotonic() - started)}


def _received(pipe: Connection) -> Tally:
    received: Tally | Broke = pipe.recv()
    assert not isinstance(received, Broke), received.traceback
    return received


def _run_lane(seed: int, lane: int, numbers: Iterator[int], pipe: Connection) -> None:
    """Run the batches of these `numbers` in a database of its own."""
    connection.creation.setup_worker_connection(lane)
    # No server dies here.
    connection.settings_dict["OPTIONS"]["options"] += " -c synchronous_commit=off"
    tally = Tally()
    for number in numbers:
        tally += run_cases(BATCH, f"{seed} {number}")
        print(f"lane {lane}: {tally.cases} cases, {tally.faults.total()} faults", file=sys.stderr)
    pipe.send(tally)
