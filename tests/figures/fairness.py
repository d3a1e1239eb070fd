"""How long the first tries of others wait while one receiver hangs on every call."""

import threading
import time
from contextlib import ExitStack
from pathlib import Path

from config.embedded.processes import wait_until
from payments import clock
from payments.notifications.nudging import nudge
from tests.figures.making import new_merchant, put_events
from tests.figures.receiver import Receiver
from tests.figures.worker import START_TIMEOUT_SECONDS, Worker

OTHERS = 10
PAUSE_SECONDS = 0.2


def fairness(folder: Path, hanging: int, events: int, timeout_seconds: float) -> dict[str, float]:
    """`hanging` events wait for a receiver that never answers; then come `events` for ten others, five a second.

    Each is written, and a worker nudged, as a charge does. The waits are in milliseconds.
    """
    worker, merchant = Worker(folder), new_merchant()
    written: dict[str, float] = {}
    with ExitStack() as stack:
        stack.callback(worker.kill)
        dead = stack.enter_context(Receiver(lambda call: None))
        others = [stack.enter_context(Receiver()) for _ in range(OTHERS)]
        put_events(merchant, dead.url, hanging, clock.now())
        worker.start()
        assert wait_until(lambda: bool(dead.calls), START_TIMEOUT_SECONDS)
        for number in range(events):
            [event_id] = put_events(merchant, others[number % OTHERS].url, 1, clock.now())
            written[event_id] = time.monotonic()
            nudge()
            threading.Event().wait(PAUSE_SECONDS)
        assert wait_until(lambda: sum(len(other.calls) for other in others) >= events, timeout_seconds)
    first = {call.event_id: call.at for other in others for call in reversed(other.calls)}
    waits = sorted(first[event_id] - moment for event_id, moment in written.items())
    return {
        "hanging": hanging,
        "events": events,
        "p50_milliseconds": round(waits[len(waits) // 2] * 1000),
        "p99_milliseconds": round(waits[int(len(waits) * 0.99)] * 1000),
        "tries_at_the_hanging_receiver": len(dead.calls),
    }
