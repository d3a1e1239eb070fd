"""Histories by the thousand, each step held to a model of the contract, on all cores."""

import logging
import sys
import traceback
from itertools import chain

from django.conf import settings

from tests.figures.lanes import lanes_for, results_of, without_waiting_for_disks
from tests.high_limits import MANY_DECLINES

# A failing batch is run again, alone, by its own seed.
BATCH = 50


def histories(histories: int, seed: int) -> dict[str, object]:
    """Run `histories`, the first fifty under `seed`, the next under `seed + 1`, and so on; count the failed.

    Each process has a database of its own, because the sweeps look at the objects of all merchants.
    """
    batches = [(seed + number, min(BATCH, histories - number * BATCH)) for number in range(-(-histories // BATCH))]
    lanes = lanes_for(len(batches))
    failed = sorted(chain(*results_of(lambda lane: _failed(batches[lane::lanes]), lanes)))
    return {"histories": histories, "seed": seed, "failed": len(failed), "seeds_of_failed": failed}


def _failed(batches: list[tuple[int, int]]) -> list[int]:
    """Run the batches; return the seeds of those that failed."""
    from tests.machine.runner import NEVER_BY_ITSELF_SECONDS, run_histories

    logging.disable(logging.CRITICAL)
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.SIMULATOR_REFUND_DELAY_SECONDS = NEVER_BY_ITSELF_SECONDS
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    without_waiting_for_disks()
    failed = []
    for done, (seed, count) in enumerate(batches, 1):
        try:
            run_histories(count, seed)
        except Exception:  # noqa: BLE001  whatever is wrong is what this looks for
            failed.append(seed)
            traceback.print_exc()
            print(f"python -m tests.figures histories --histories {count} --seed {seed}", file=sys.stderr)
        print(f"{done} of {len(batches)} batches, {len(failed)} failed", file=sys.stderr)
    return failed
