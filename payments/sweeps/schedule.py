"""How often each sweep of `payments.tasks` runs, and on how many threads."""

from dataclasses import dataclass

# One more than may wait for one slow provider at a time (see `bulkheads`), so that it keeps no other from its sweeps.
ASKING_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class Schedule:
    """A sweep is due `seconds` after its last start."""

    seconds: float
    # How many threads of one worker may run it at once.
    at_once: int = 1
    # Whether several workers may run it at once; otherwise it is not due again until its run has ended.
    shared: bool = False


ASKING = Schedule(2.0, ASKING_AT_ONCE, shared=True)
SWEEPS = {
    "resolve_attempts": ASKING,
    "send_dispute_responses": ASKING,
    "send_payouts": ASKING,
    "execute_approved_actions": ASKING,
    "apply_provider_events": ASKING,
    "void_expired_holds": Schedule(30.0, ASKING_AT_ONCE, shared=True),
    "expire_checkouts": Schedule(10.0),
    "remind_of_requests": Schedule(60.0),
    "deliver_webhooks": Schedule(1.0, shared=True),
    "catch_up_endpoints": Schedule(1.0),
    "disable_failing_endpoints": Schedule(600.0),
    "announce_expiring_cards": Schedule(60.0),
    "apply_simulator_messages": Schedule(1.0),
    "close_overtaken_corrections": Schedule(30.0),
    "expire_action_requests": Schedule(30.0),
    "settle_due": Schedule(60.0),
    "make_payouts": Schedule(60.0),
    "advance_payouts": Schedule(30.0),
    "destroy_unused_card_data": Schedule(30.0),
    "finish_key_rotation": Schedule(60.0),
    "purge_idempotency": Schedule(3600.0),
    "maintain_partitions": Schedule(600.0),
    "check_money": Schedule(60.0),
    "reconcile_simulator": Schedule(3600.0),
    "read_uploaded_reports": Schedule(2.0),
    "recheck_reconciliation_items": Schedule(30.0),
    "update_search": Schedule(2.0),
    "update_day_totals": Schedule(60.0),
    "sum_up_ledger_days": Schedule(60.0),
    "append_to_log": Schedule(10.0),
    "delete_old_checkouts": Schedule(3600.0),
    "delete_old_page_visits": Schedule(3600.0),
    "delete_old_provider_messages": Schedule(3600.0),
    "delete_old_simulator_messages": Schedule(3600.0),
    "end_decline_alerts": Schedule(60.0),
    "delete_old_evidence": Schedule(3600.0),
    "announce_events": Schedule(30.0),
    "send_mails": Schedule(10.0),
    "send_chat_messages": Schedule(10.0),
    "send_payer_mails": Schedule(10.0, shared=True),
    "send_payer_texts": Schedule(10.0, shared=True),
    "delete_old_payer_messages": Schedule(3600.0),
    "delete_old_notifications": Schedule(3600.0),
    "clear_sessions": Schedule(3600.0),
    "measure_oldest_due": Schedule(15.0),
}
