"""Whether any history of checkouts breaks a rule of the model, or an invariant of the money.

History `number` of a seed can be replayed alone: `--seed SEED --first-history NUMBER --histories 1`.
"""

import logging
import sys
import time
from random import Random

from django.conf import settings
from django.db import transaction

from payments.invariants.registry import INVARIANTS
from tests.high_limits import MANY_DECLINES
from tests.machine.checkouts import Wrong, run_history
from tests.machine.runner import NEVER_BY_ITSELF_SECONDS

PROGRESS_HISTORIES = 100
SHOWN = 20


def checkouts(histories: int, first_history: int, seed: int) -> dict[str, object]:
    """Run so many `histories` of checkouts from `seed`; return what is wrong in them, each by its number."""
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = "1000000/second"
    settings.SIMULATOR_REFUND_DELAY_SECONDS = NEVER_BY_ITSELF_SECONDS
    started, wrong = time.monotonic(), dict[int, str]()
    for number in range(first_history, first_history + histories):
        with transaction.atomic():
            try:
                run_history(Random(f"{seed} {number}"))
            except Wrong as found:
                wrong[number] = str(found)
            transaction.set_rollback(True)
        if not (number + 1 - first_history) % PROGRESS_HISTORIES:
            print(f"{number + 1 - first_history} of {histories}: {len(wrong)} wrong", file=sys.stderr)
    return {
        "seed": seed,
        "seconds": round(time.monotonic() - started),
        "histories": histories,
        "invariants": len(INVARIANTS),
        "wrong": len(wrong),
        "findings": [f"history {number}: {found}" for number, found in list(wrong.items())[:SHOWN]],
    }
