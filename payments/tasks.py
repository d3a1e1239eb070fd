"""The one Celery task: a sweep of `payments.sweeps.table` by its name, safe to run twice or in two places at once.

Each worker runs them by its timer, and some earlier when Redis wakes it.
"""

from threading import BoundedSemaphore

from celery import shared_task
from celery.signals import worker_shutting_down

from payments.sweeps.table import SWEEPS
from payments.webhooks.worker import DELIVERER

PLACES = {name: BoundedSemaphore(sweep.at_once) for name, sweep in SWEEPS.items()}


@shared_task
def run_sweep(name: str) -> int:
    """Run the sweep; return how much it did, 0 at once where as many threads of this process run it as may."""
    if not PLACES[name].acquire(blocking=False):
        return 0
    try:
        return SWEEPS[name].run()
    finally:
        PLACES[name].release()


@worker_shutting_down.connect
def stop_delivering(**_: object) -> None:
    DELIVERER.stop()
