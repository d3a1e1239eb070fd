"""Requests that are wrong in every way, by the hundred thousand, on all cores.

Batch `number` of a seed can be run alone: `--seed SEED --first-batch NUMBER --cases 1`, which is rounded up to a batch.
"""

import logging
import sys
import time
from collections.abc import Sequence
from functools import reduce
from operator import add

from django.conf import settings

from tests.figures.lanes import lanes_for, results_of, without_waiting_for_disks
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
    lanes = lanes_for(batches)
    tally = reduce(
        add, results_of(lambda lane: _tally(seed, lane, range(first_batch + lane, first_batch + batches, lanes)), lanes)
    )
    return tally.figures() | {"seed": seed, "seconds": round(time.monotonic() - started)}


def _tally(seed: int, lane: int, numbers: Sequence[int]) -> Tally:
    """Run the batches of these `numbers`."""
    without_waiting_for_disks()
    tally = Tally()
    for number in numbers:
        tally += run_cases(BATCH, f"{seed} {number}")
        print(f"lane {lane}: {tally.cases} cases, {tally.faults.total()} faults", file=sys.stderr)
    return tally
