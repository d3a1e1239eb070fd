"""Since when the oldest item of each sweep is due, by the index that the sweep itself uses."""

import logging
from collections.abc import Callable
from datetime import datetime

from django.db import Error, connection, transaction

from payments.connections import limit_statements
from payments.sweeps.webhook_queues import oldest_unserved

logger = logging.getLogger("kaha.sweeps")

STATEMENT_LIMIT = "3s"


def _first(table: str, column: str, condition: str = "true") -> Callable[[], datetime | None]:
    """Return what reads the earliest past `column` of the rows that meet `condition`."""
    statement = (
        f"SELECT {column} FROM {table} "  # nosec B608 # names of ours
        f"WHERE {column} <= statement_timestamp() AND {condition} ORDER BY {column} LIMIT 1"
    )

    def read() -> datetime | None:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            found = cursor.fetchone()
        return found[0] if found else None

    return read


TO_SEND = "status = 'pending' AND livemode AND due_at IS NULL AND provider_account_id IS NOT NULL"
# Of what is retried later, the due time is moved ahead; so something old here is something that nobody took.
MEASURES: dict[str, tuple[Callable[[], datetime | None], ...]] = {
    "resolve_attempts": (_first("payments_attempt", "due_at"), _first("payments_checkout", "check_due_at")),
    "send_dispute_responses": (_first("payments_dispute", "response_due_at"),),
    "apply_provider_events": (_first("payments_providerevent", "due_at"),),
    "apply_simulator_messages": (_first("simulator_message", "due_at", "delivered_at IS NULL"),),
    "deliver_webhooks": (oldest_unserved,),
    "catch_up_endpoints": (_first("payments_webhookendpoint", "catch_up_at"),),
    "void_expired_holds": (_first("payments_charge", "hold_expires_at", "operation = ''"),),
    "remind_of_requests": (_first("payments_paymentrequest", "remind_at"),),
    "expire_checkouts": (
        _first("payments_checkout", "expires_at", "state = 'unpaid'"),
        _first("payments_paymentlink", "ends_at", "active"),
    ),
    "settle_due": (_first("payments_charge", "settle_due_at", "operation = ''"),),
    "make_payouts": (_first("payments_payoutschedule", "next_at"),),
    "advance_payouts": (_first("payments_payout", "reserve_due_at"),),
    "send_payouts": (
        _first("payments_payout", "due_at"),
        _first("payments_payout", "approved_at", TO_SEND),
    ),
    "announce_expiring_cards": (_first("payments_card", "expiring_at"),),
    "destroy_unused_card_data": (_first("payments_card", "cvc_expires_at", "sealed_cvc IS NOT NULL"),),
    "expire_action_requests": (_first("payments_approvalrequest", "expires_at", "state = 'proposed'"),),
    "send_mails": (_first("payments_notification", "due_at", "operator_id IS NOT NULL"),),
    "send_payer_mails": (_first("payments_payermessage", "due_at", "channel = 'email'"),),
    "send_payer_texts": (_first("payments_payermessage", "due_at", "channel = 'sms'"),),
    "send_chat_messages": (_first("payments_notification", "due_at", "operator_id IS NULL"),),
}

RECORD = """
UPDATE payments_sweep s SET oldest_due_at = measured.oldest_due_at, measured_at = statement_timestamp()
FROM unnest(%s::text[], %s::timestamptz[]) AS measured (name, oldest_due_at) WHERE s.name = measured.name
"""


def measure(name: str) -> datetime | None:
    """Return since when the oldest item of the sweep is due, None if nothing is; raise Error after STATEMENT_LIMIT."""
    with transaction.atomic():
        limit_statements(STATEMENT_LIMIT)
        return min(filter(None, (read() for read in MEASURES[name])), default=None)


def record() -> int:
    """Record the oldest due items; return how many sweeps have one. Raise the last Error, after all are tried."""
    found, fault = dict[str, datetime | None](), None
    for name in MEASURES:
        try:
            found[name] = measure(name)
        except Error as error:
            fault = error
    with connection.cursor() as cursor:
        cursor.execute(RECORD, [list(found), list(found.values())])
    if fault:
        raise fault
    return len([moment for moment in found.values() if moment])
