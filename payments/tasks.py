"""What runs in a worker: each task is one sweep of the domain, safe to run twice or in two places at once."""

from collections.abc import Callable
from functools import wraps
from threading import BoundedSemaphore

from celery import shared_task
from celery.signals import worker_shutting_down
from django.core.management import call_command

from payments.domain import exports, idempotency, settlement, visits
from payments.domain.approvals import decisions
from payments.domain.charging import expiry, recovery
from payments.domain.maintenance import key_rotation, partitions
from payments.domain.operators import corrections, decide, execute
from payments.domain.provider_events import apply, inbox
from payments.domain.provider_events import messages as hearing
from payments.domain.reconciliation import runs
from payments.invariants import checking
from payments.overview import summing
from payments.providers.simulator import messages
from payments.webhooks.worker import Deliverer, Drain

DELIVERER = Deliverer(Drain())
# One more than may wait for one slow provider at a time (see `bulkheads`), so that it keeps no other from its sweeps.
ASKING_AT_ONCE = 3


def at_most(count: int) -> Callable[[Callable[[], int]], Callable[[], int]]:
    """Has a sweep run in `count` threads of a process at once; one more returns at once, for those that run go on."""

    def bounded(sweep: Callable[[], int]) -> Callable[[], int]:
        places = BoundedSemaphore(count)

        @wraps(sweep)
        def run() -> int:
            if not places.acquire(blocking=False):
                return 0
            try:
                return sweep()
            finally:
                places.release()

        return run

    return bounded


@shared_task
@at_most(ASKING_AT_ONCE)
def resolve_attempts() -> int:
    return recovery.resolve_due()


@shared_task
def close_overtaken_corrections() -> int:
    return corrections.close_overtaken()


@shared_task
@at_most(ASKING_AT_ONCE)
def do_approved_acts() -> int:
    return execute.go_on()


@shared_task
def expire_act_requests() -> int:
    return decide.expire() + decisions.expire()


@shared_task
def hear_simulator() -> int:
    return hearing.hear_simulator()


@shared_task
def forget_simulator_messages() -> int:
    return messages.forget_old()


@shared_task
@at_most(ASKING_AT_ONCE)
def apply_provider_events() -> int:
    """Comes by nudge as soon as one is kept, and by beat for what was left or has become due again."""
    return apply.work_off()


@shared_task
def delete_old_provider_messages() -> int:
    return inbox.forget_old()


@shared_task
def deliver_webhooks() -> int:
    """Comes by nudge as soon as an event is written, and by beat for what was left or has become due again."""
    return DELIVERER.run()


@worker_shutting_down.connect
def stop_delivering(**_: object) -> None:
    DELIVERER.stop()


@shared_task
@at_most(ASKING_AT_ONCE)
def void_expired_holds() -> int:
    return expiry.void_expired_holds()


@shared_task
def settle_due() -> int:
    return settlement.settle_all_due()


@shared_task
def destroy_unused_card_data() -> int:
    expiry.destroy_cvc_keys()
    return expiry.destroy_unused_cvcs() + expiry.destroy_unused_numbers()


@shared_task
def finish_key_rotation() -> int:
    return key_rotation.finish()


@shared_task
def purge_idempotency() -> int:
    return idempotency.purge()


@shared_task
def keep_months() -> int:
    """Comes every ten minutes, lest what was in use is missed for a day."""
    return partitions.keep()


@shared_task
def check_money() -> bool:
    """Runs daily, but comes every minute, lest a worker that starts late loses a day."""
    return checking.run_if_due() is not None


@shared_task
def reconcile_simulator() -> bool:
    """Comes every hour, lest a worker that starts late loses a day."""
    return runs.reconcile_today("simulator")


@shared_task
def sum_up_days() -> int:
    """Comes every minute, lest the pending charges of a past day count as such for longer than they are."""
    return summing.sum_up_due()


@shared_task
def clear_sessions() -> None:
    """Deletes the sessions of operators that are over."""
    call_command("clearsessions")


@shared_task
def forget_page_visits() -> int:
    return visits.forget_old()


@shared_task
def write_exports() -> int:
    """Comes by beat alone, lest an export waits for a message that is lost."""
    return exports.write_due()


@shared_task
def delete_old_exports() -> int:
    return exports.delete_expired()
