"""Whether anything is done twice or lost at a provider of live mode whose answers get lost, before its fake.

Life `number` of a seed can be replayed alone: `--seed SEED --first-life NUMBER --answers 1`.
"""

import logging
import sys
import time
import traceback
from contextlib import closing
from itertools import count

from django.conf import settings

from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.providers.http import Connections
from tests.high_limits import MANY_DECLINES
from tests.provider_events.live.life import live
from tests.provider_events.live.tally import Tally
from tests.providers.sender import HASTE_SECONDS

PROGRESS_LIVES = 20


def ambiguous(answers: int, first_life: int, provider: str, seed: int) -> dict[str, object]:
    """Draw charges until so many `answers` were ambiguous; return how kaha and the provider's books differ."""
    logging.disable(logging.CRITICAL)
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.DECLINE_LIMITS = MANY_DECLINES
    started, whole, lives = time.monotonic(), Tally(), {}
    with closing(Connections(HASTE_SECONDS)) as hasty:
        for number in count(first_life):
            tally = _lived(provider, hasty, f"{seed} {number}")
            whole += tally
            if tally.wrong:
                lives[number] = dict(tally.wrong)
            if whole.done["ambiguous"] >= answers:
                break
            if not whole.done["charges"] % PROGRESS_LIVES:
                print(f"{whole.done['ambiguous']} of {answers}: {len(lives)} wrong {lives}", file=sys.stderr)
    wrong = {name: whole.wrong[name] for name in ("double", "lost", "unresolved", "contradicted", "answers", "broken")}
    failures = [failure["name"] for failure in checks.run(INVARIANTS).failures]
    places = {"provider": provider, "seed": seed, "seconds": round(time.monotonic() - started)}
    return places | {"done": dict(whole.done), **wrong, "wrong_lives": lives, "invariants_broken": failures}


def _lived(provider: str, hasty: Connections, seed: str) -> Tally:
    """Run one life as `live` does; count an exception as broken, so that the other lives still run."""
    tally = Tally()
    try:
        tally += live(provider, hasty, seed)
    except Exception:  # noqa: BLE001  whatever is wrong is what this looks for
        traceback.print_exc()
        tally.wrong["broken"] += 1
    return tally
