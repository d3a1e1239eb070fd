"""The table of all sweeps: what each does, how often, on how many threads, and what is due in it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pkgutil import resolve_name
from typing import Any

from django.db import connection

from payments import clock
from payments.sweeps.webhook_queues import oldest_unserved

# One more than may wait for one slow provider at a time (see `bulkheads`), so that it keeps no other from its sweeps.
ASKING_AT_ONCE = 3
HOUR = 3600.0
# Reads since when the oldest item is due; None if nothing is.
Due = Callable[[], datetime | None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep, due `seconds` after its last start. It calls the functions that `does` names, one after the other."""

    does: str
    seconds: float
    due: tuple[Due, ...] = ()
    # How many threads of one process may run it at once.
    at_once: int = 1
    # Whether several workers may run it at once; otherwise it is not due again until its run has ended.
    shared: bool = False
    # All that it acts on, to be looked for before a run, which takes up to ten times as long.
    looks: tuple[Due, ...] = ()

    def run(self) -> int:
        """Return how much it did. Another run of it may be under way, here or elsewhere."""
        if self.looks and not any(read() for read in self.looks):
            return 0
        # By name, because sweeps are of rooms above this one, and a web process loads none of them for the table.
        done: list[Any] = [resolve_name(f"payments.{name}")() for name in self.does.split()]
        return sum(each if isinstance(each, int) else each is not None for each in done)


def _first(table: str, column: str, condition: str = "true") -> Due:
    """Return what reads the earliest past `column` of the rows that meet `condition`, by the index of the sweep."""
    statement = (
        f"SELECT {column} FROM {table} "  # nosec B608 # names of ours
        f"WHERE {column} <= %s AND {condition} ORDER BY {column} LIMIT 1"
    )

    def read() -> datetime | None:
        with connection.cursor() as cursor:
            cursor.execute(statement, [clock.now()])
            found = cursor.fetchone()
        return found[0] if found else None

    return read


def _asking(does: str, *due: Due, seconds: float = 2.0) -> Sweep:
    """Return a sweep that asks providers, about nothing but what is `due`."""
    return Sweep(does, seconds, due, ASKING_AT_ONCE, shared=True, looks=due)


def _acting(does: str, seconds: float, *due: Due, **options: Any) -> Sweep:
    """Return a sweep that acts on nothing but what is `due`."""
    return Sweep(does, seconds, due, looks=due, **options)


TO_SEND = "status = 'pending' AND livemode AND due_at IS NULL AND provider_account_id IS NOT NULL"
PAYOUTS_DUE = _first("payments_payout", "due_at"), _first("payments_payout", "approved_at", TO_SEND)
CHECKOUTS_DUE = (
    _first("payments_checkout", "expires_at", "state = 'unpaid'"),
    _first("payments_paymentlink", "ends_at", "active"),
)
LOOK_UPS_DUE = _first("payments_attempt", "due_at"), _first("payments_checkout", "check_due_at")
RESPONSE_DUE = _first("payments_dispute", "response_due_at")
EVENT_DUE = _first("payments_providerevent", "due_at")
HOLD_DUE = _first("payments_charge", "hold_expires_at", "operation = ''")
SETTLEMENT_DUE = _first("payments_charge", "settle_due_at", "operation = ''")
REMINDER_DUE = _first("payments_paymentrequest", "remind_at")
COLLECT_DUE = _first("payments_paymentrequest", "collect_at")
UPLOAD_DUE = _first("payments_reportupload", "due_at")
UPLOAD_ENDED = _first("payments_reportupload", "expires_at", "due_at IS NOT NULL")
ENDPOINT_DUE = _first("payments_webhookendpoint", "catch_up_at")
CARD_DUE = _first("payments_card", "expiring_at")
SCHEDULE_DUE = _first("payments_payoutschedule", "next_at")
RESERVE_DUE = _first("payments_payout", "reserve_due_at")
CVC_DUE = _first("payments_card", "cvc_expires_at", "sealed_cvc IS NOT NULL")
REQUEST_DUE = _first("payments_approvalrequest", "expires_at", "state = 'proposed'")
SIMULATED_DUE = (
    _first("simulator_message", "due_at", "delivered_at IS NULL"),
    _first("simulator_simulatedoperation", "settles_at"),
    _first("simulator_simulatedpayment", "expires_at", "state = 'awaiting'"),
    _first("simulator_simulatedpayment", "dispute_due_at"),
    _first("simulator_simulatedpayout", "due_at"),
)
SCHEDULED_FILE_DUE = _first("payments_fileschedule", "due_at")
NOTIFICATION_DUE = _first("payments_notification", "due_at")
MESSAGES_DUE = [_first("payments_payermessage", "due_at", f"channel = '{channel}'") for channel in ("email", "sms")]
SIMULATE = "domain.provider_events.messages:apply_simulator_messages"
LOOK_UP = "domain.charging.recovery:resolve_due domain.checkout.card_checks:resolve_due"
EXPIRE_CHECKOUTS = "domain.checkout.sessions:expire_due domain.checkout.links:close_due"
DESTROY = (
    "domain.charging.expiry:destroy_cvc_keys domain.charging.expiry:destroy_unused_cvcs "
    "domain.charging.expiry:destroy_unused_numbers"
)
READ_UPLOADS = "domain.reconciliation.uploads:delete_expired domain.reconciliation.uploads:read_due"
APPEND = (
    "ledger.transparency.append:append ledger.transparency.append:append_missed_if_due "
    "ledger.transparency.heads:sign_if_due"
)
# Of what is retried later, the due time is moved ahead; so something old that is due is something that nobody took.
SWEEPS = {
    "resolve_attempts": _asking(LOOK_UP, *LOOK_UPS_DUE),
    "send_dispute_responses": _asking("domain.disputes.respond:send_due", RESPONSE_DUE),
    "send_payouts": _asking("domain.payouts.send:send_due", *PAYOUTS_DUE),
    "execute_approved_actions": _asking("domain.approvals.execution:execute_left"),
    "apply_provider_events": _asking("domain.provider_events.apply:apply_due", EVENT_DUE),
    "void_expired_holds": _asking("domain.charging.expiry:void_expired_holds", HOLD_DUE, seconds=30.0),
    "expire_checkouts": Sweep(EXPIRE_CHECKOUTS, 10.0, CHECKOUTS_DUE),
    "remind_of_requests": _acting("domain.checkout.requests:remind_due", 60.0, REMINDER_DUE),
    # By one worker at a time, which counts how often a card is tried.
    "collect_requests": _acting("domain.checkout.collect:collect_due", 5.0, COLLECT_DUE),
    # A second call makes the loop that runs look again.
    "deliver_webhooks": Sweep("webhooks.worker:DELIVERER.run", 1.0, (oldest_unserved,), at_once=2, shared=True),
    "catch_up_endpoints": _acting("domain.webhooks.endpoints:catch_up", 1.0, ENDPOINT_DUE),
    "disable_failing_endpoints": Sweep("domain.webhooks.endpoints:disable_failing", 600.0),
    "announce_expiring_cards": Sweep("domain.charging.expiry:announce_expiring_cards", 60.0, (CARD_DUE,)),
    "apply_simulator_messages": Sweep(SIMULATE, 1.0, SIMULATED_DUE[:1], looks=SIMULATED_DUE),
    "close_overtaken_corrections": Sweep("domain.approvals.decide:close_overtaken", 30.0),
    "expire_action_requests": Sweep("domain.approvals.decide:expire", 30.0, (REQUEST_DUE,)),
    "settle_due": Sweep("ledger.settlement:settle_all_due", 60.0, (SETTLEMENT_DUE,)),
    "make_payouts": _acting("domain.payouts.make:make_due", 60.0, SCHEDULE_DUE),
    "advance_payouts": _acting("domain.payouts.states:release_reserves", 30.0, RESERVE_DUE),
    "destroy_unused_card_data": Sweep(DESTROY, 30.0, (CVC_DUE,)),
    "finish_key_rotation": Sweep("domain.maintenance.key_rotation:finish", 60.0),
    # Often, so that a table that is in use is soon tried again.
    "maintain_partitions": Sweep("domain.maintenance.partitions:maintain", 600.0),
    # What is done once a day is due more often, so that a late worker loses no day.
    "check_money": Sweep("invariants.checks:run_if_due", 60.0),
    "reconcile_simulator": Sweep("domain.reconciliation.runs:reconcile_today", HOUR),
    "read_uploaded_reports": Sweep(READ_UPLOADS, 2.0, looks=(UPLOAD_DUE, UPLOAD_ENDED)),
    "recheck_reconciliation_items": Sweep("domain.reconciliation.runs:recheck_arrived", 30.0),
    "update_search": Sweep("search.sweep:update", 2.0),
    "update_day_totals": Sweep("overview.day_totals:sum_up_due", 60.0),
    "sum_up_ledger_days": Sweep("ledger.account_days:sum_up_due", 60.0),
    "append_to_log": Sweep(APPEND, 10.0),
    "delete_old_rows": Sweep("domain.maintenance.retention:delete_old_rows", HOUR),
    "end_decline_alerts": Sweep("domain.risk.decline_alerts:end_over", 60.0),
    "announce_events": Sweep("inbox.announcements:announce", 30.0),
    # A slow mail server holds one thread.
    "send_messages": _acting("domain.messages.to_payers:send_due", 10.0, *MESSAGES_DUE, shared=True),
    # Files of lists: what a slow one holds is one of two threads.
    "make_scheduled_files": _acting("admin.lists.schedules:send_due", 10.0, SCHEDULED_FILE_DUE, at_once=2, shared=True),
    # By one worker at a time, which counts what an operator was sent in the hour.
    "send_notifications": Sweep("inbox.mails:send_due", 10.0, (NOTIFICATION_DUE,)),
    "clear_sessions": Sweep("domain.maintenance.old_sign_ins:delete", HOUR),
    "measure_oldest_due": Sweep("sweeps.oldest_due:record", 15.0),
}
