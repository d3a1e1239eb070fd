"""Celery tasks: each is one sweep of the domain, safe to run twice or in two places at once.

Each worker runs them by its timer (`payments.sweeps`), and some earlier when Redis wakes it.
"""

from celery import shared_task
from celery.signals import worker_shutting_down

from payments.domain.approvals import decide, execution
from payments.domain.charging import expiry, recovery
from payments.domain.checkout import card_checks, links, requests, sessions
from payments.domain.disputes import evidence, respond
from payments.domain.maintenance import key_rotation, old_sign_ins, partitions
from payments.domain.payer_messages import send as payer_messages
from payments.domain.payouts import make, sweeps
from payments.domain.payouts import send as send_out
from payments.domain.provider_events import apply, inbox
from payments.domain.provider_events.messages import apply_simulator_messages as apply_messages
from payments.domain.reconciliation import runs, uploads
from payments.domain.risk import decline_alerts
from payments.domain.shared import idempotency
from payments.domain.webhooks import endpoints
from payments.inbox import announcements, mails
from payments.invariants import checks
from payments.ledger import account_days, settlement
from payments.ledger.transparency import append, heads
from payments.overview import day_totals
from payments.providers.simulator import messages
from payments.search import sweep
from payments.sweeps import oldest_due
from payments.sweeps.at_once import at_most
from payments.sweeps.schedule import ASKING_AT_ONCE
from payments.webhooks.wake_up import AWAKE_SECONDS
from payments.webhooks.worker import DeliveryLoop, SharedDeliveryLoop

DELIVERER = SharedDeliveryLoop(DeliveryLoop(awake_seconds=AWAKE_SECONDS))


@shared_task
@at_most(ASKING_AT_ONCE)
def resolve_attempts() -> int:
    return recovery.resolve_due() + card_checks.resolve_due()


@shared_task
@at_most(ASKING_AT_ONCE)
def send_dispute_responses() -> int:
    return respond.send_due()


@shared_task
def delete_old_evidence() -> int:
    return evidence.delete_old()


@shared_task
def close_overtaken_corrections() -> int:
    return decide.close_overtaken()


@shared_task
@at_most(ASKING_AT_ONCE)
def execute_approved_actions() -> int:
    return execution.execute_left()


@shared_task
def expire_action_requests() -> int:
    return decide.expire()


@shared_task
def apply_simulator_messages() -> int:
    return apply_messages()


@shared_task
def delete_old_simulator_messages() -> int:
    return messages.delete_old()


@shared_task
@at_most(ASKING_AT_ONCE)
def apply_provider_events() -> int:
    """Apply due provider events; runs at once when one is stored, and by the timer for what is left."""
    return apply.apply_due()


@shared_task
def delete_old_provider_messages() -> int:
    return inbox.delete_old()


@shared_task
def deliver_webhooks() -> int:
    """Send due webhooks; runs at once when an event is written, and by the timer for what is left."""
    return DELIVERER.run()


@shared_task
def catch_up_endpoints() -> int:
    """Write the webhooks of events that were written without knowing of a new or changed endpoint."""
    return endpoints.catch_up()


@shared_task
def disable_failing_endpoints() -> int:
    return endpoints.disable_failing()


@shared_task
def announce_expiring_cards() -> int:
    """Write the events of kept cards that expire soon."""
    return expiry.announce_expiring_cards()


@worker_shutting_down.connect
def stop_delivering(**_: object) -> None:
    DELIVERER.stop()


@shared_task
@at_most(ASKING_AT_ONCE)
def void_expired_holds() -> int:
    return expiry.void_expired_holds()


@shared_task
def expire_checkouts() -> int:
    return sessions.expire_due() + links.close_due()


@shared_task
def remind_of_requests() -> int:
    return requests.remind_due()


@shared_task
def delete_old_checkouts() -> int:
    return sessions.delete_old()


@shared_task
def settle_due() -> int:
    return settlement.settle_all_due()


@shared_task
def make_payouts() -> int:
    return make.make_due()


@shared_task
@at_most(ASKING_AT_ONCE)
def send_payouts() -> int:
    """Send due payouts by their providers, and look up those whose outcome is not known."""
    return send_out.send_due()


@shared_task
def advance_payouts() -> int:
    """Release the reserves whose time is over."""
    return sweeps.release_reserves()


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
def maintain_partitions() -> int:
    """Make and drop monthly partitions; runs every ten minutes, so that a locked one is soon retried."""
    return partitions.maintain()


@shared_task
def check_money() -> bool:
    """Run the daily check if it is due; runs every minute, so that a late worker loses no day."""
    return checks.run_if_due() is not None


@shared_task
def reconcile_simulator() -> bool:
    """Reconcile the simulator once a day; runs every hour, so that a late worker loses no day."""
    return runs.reconcile_today("simulator")


@shared_task
@at_most(1)
def read_uploaded_reports() -> bool:
    """Read an uploaded report; runs at once when one is stored, and by the timer for what is left."""
    uploads.delete_expired()
    return uploads.read_due()


@shared_task
def recheck_reconciliation_items() -> int:
    """Match reported movements that were posted after the report was read."""
    return runs.recheck_arrived()


@shared_task
@at_most(1)
def update_search() -> int:
    """Enter charges and customers that changed into the search."""
    return sweep.update()


@shared_task
def update_day_totals() -> int:
    """Sum up past days; runs every minute, so that pending charges of a past day are soon counted again."""
    return day_totals.sum_up_due()


@shared_task
def sum_up_ledger_days() -> int:
    """Sum up the ledger's days that are over; runs every minute, so that a late worker loses no day."""
    return account_days.sum_up_due()


@shared_task
def append_to_log() -> bool:
    """Append the ledger's new journals to the transparency log, and sign its head once an hour."""
    appended = append.append() + append.append_missed_if_due()
    return heads.sign_if_due() or appended > 0


@shared_task
def end_decline_alerts() -> int:
    return decline_alerts.end_over()


@shared_task
def clear_sessions() -> None:
    """Delete the expired sessions of operators, and what else a sign-in leaves behind."""
    old_sign_ins.delete()


@shared_task
def delete_old_page_visits() -> int:
    return expiry.delete_old_visits()


@shared_task
@at_most(1)
def announce_events() -> int:
    """Make the notifications of what needs attention since the last time."""
    return announcements.announce()


@shared_task
@at_most(1)
def send_mails() -> int:
    """Send due e-mails; a slow mail server holds one thread, and for a short time."""
    return mails.send_mails()


@shared_task
@at_most(1)
def send_chat_messages() -> int:
    return mails.send_chat()


@shared_task
@at_most(1)
def send_payer_mails() -> int:
    """Send due mails to payers; runs at once when one is written, and by the timer for what is left."""
    return payer_messages.send_mails()


@shared_task
@at_most(1)
def send_payer_texts() -> int:
    """Send due SMS to payers, as `send_payer_mails` does."""
    return payer_messages.send_texts()


@shared_task
def delete_old_payer_messages() -> int:
    return payer_messages.delete_old()


@shared_task
def delete_old_notifications() -> int:
    return announcements.delete_old()


@shared_task
def measure_oldest_due() -> int:
    """Record since when the oldest item of each sweep is due."""
    return oldest_due.record()
