"""How long the first tries of other receivers wait while many receivers of one merchant hang on every call."""

import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from payments import clock
from payments.embedded.processes import wait_until
from payments.models import Merchant
from payments.webhooks.wake_up import wake_worker
from tests.benchmark.figures import percentile
from tests.figures.webhooks.events import new_merchant, put_events
from tests.support.processes import PATIENCE_SECONDS
from tests.support.receiver import Receiver
from tests.support.worker import Worker

HEALTHY = 5
PAUSE_SECONDS = 0.2


def fairness(folder: Path, hanging: int, receivers: int, events: int, timeout_seconds: float) -> dict[str, float]:
    """Measure how long `events`, five a second, wait while `hanging` events wait for `receivers` that never answer.

    The events go in turn to five receivers of another merchant and to five more of the same one, all of which answer at
    once. Each is written, and a worker woken, as by a charge. The waits are in milliseconds.
    """
    worker, hostile, other = Worker(folder), new_merchant(), new_merchant()
    with ExitStack() as stack:
        stack.callback(worker.kill)
        dead = [stack.enter_context(Receiver(lambda call: None)) for _ in range(receivers)]
        healthy = {merchant: [stack.enter_context(Receiver()) for _ in range(HEALTHY)] for merchant in (other, hostile)}
        for receiver in dead:
            put_events(hostile, receiver.url, hanging // receivers, clock.now())
        worker.start()
        assert wait_until(lambda: sum(len(receiver.calls) for receiver in dead) >= receivers, PATIENCE_SECONDS)
        written = _write(healthy, events)
        answered = [receiver for of_merchant in healthy.values() for receiver in of_merchant]
        assert wait_until(lambda: sum(len(receiver.calls) for receiver in answered) >= events, timeout_seconds)
    tries = sum(len(receiver.calls) for receiver in dead)
    waits = {merchant: _waits(of_merchant, written) for merchant, of_merchant in healthy.items()}
    return {
        "hanging": hanging,
        "receivers": receivers,
        "events": events,
        **_percentiles("other_merchant", waits[other]),
        **_percentiles("same_merchant", waits[hostile]),
        "tries_at_the_hanging_receivers": tries,
    }


def _write(healthy: dict[Merchant, list[Receiver]], events: int) -> dict[str, float]:
    """Write the events; return when each was written, by its ID."""
    written: dict[str, float] = {}
    turns = [(merchant, receiver) for merchant, of_merchant in healthy.items() for receiver in of_merchant]
    for number in range(events):
        merchant, receiver = turns[number % len(turns)]
        [event_id] = put_events(merchant, receiver.url, 1, clock.now())
        written[event_id] = time.monotonic()
        wake_worker()
        threading.Event().wait(PAUSE_SECONDS)
    return written


def _waits(receivers: Sequence[Receiver], written: dict[str, float]) -> list[float]:
    first = {call.event_id: call.at for receiver in receivers for call in reversed(receiver.calls)}
    return [at - written[event_id] for event_id, at in first.items()]


def _percentiles(name: str, waits: Sequence[float]) -> dict[str, float]:
    return {f"{name}_p{share}_milliseconds": round(percentile(waits, share) * 1000) for share in (50, 99)}
