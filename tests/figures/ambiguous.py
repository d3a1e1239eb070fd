"""Whether anything is done twice or lost at a provider of live mode whose answers get lost, before its fake."""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import reduce
from operator import add
from random import Random

from payments.providers.http import Line
from tests.providers.ambiguity import HASTE_SECONDS, Tally, play

# Each at a fake of its own.
BATCH = 25
LANES = 8


def ambiguous(answers: int, provider: str, seed: int) -> dict[str, object]:
    """So many `answers` that are lost, cut, garbled or late, and what is known in the end against what was done.

    Batch `number` of a seed can be replayed alone: `--seed SEED+NUMBER --answers 25`.
    """
    logging.disable(logging.WARNING)
    started = time.monotonic()
    sizes = [min(BATCH, answers - begin) for begin in range(0, answers, BATCH)]
    with closing(Line(HASTE_SECONDS)) as hasty, ThreadPoolExecutor(LANES) as lanes:
        batches = [
            lanes.submit(play, provider, hasty, Random(seed + number), size) for number, size in enumerate(sizes)
        ]
        tally = reduce(add, (batch.result() for batch in batches), Tally())
    return {"provider": provider, **vars(tally), "seed": seed, "seconds": round(time.monotonic() - started)}
