"""The tasks that beat starts, and how often in seconds; a message that no worker took by the next one expires."""

SCHEDULE = {
    name: {"task": f"payments.tasks.{name}", "schedule": seconds, "options": {"expires": seconds}}
    for name, seconds in {
        "resolve_attempts": 2.0,
        "send_dispute_responses": 2.0,
        "close_overtaken_corrections": 30.0,
        "execute_approved_actions": 2.0,
        "expire_action_requests": 30.0,
        "apply_simulator_messages": 1.0,
        "apply_provider_events": 2.0,
        "deliver_webhooks": 1.0,
        "void_expired_holds": 30.0,
        "settle_due": 60.0,
        "destroy_unused_card_data": 30.0,
        "finish_key_rotation": 60.0,
        "purge_idempotency": 3600.0,
        "maintain_partitions": 600.0,
        "check_money": 60.0,
        "reconcile_simulator": 3600.0,
        "read_uploaded_reports": 2.0,
        "recheck_reconciliation_items": 30.0,
        "update_search": 2.0,
        "update_day_totals": 60.0,
        "sum_up_ledger_days": 60.0,
        "delete_old_page_visits": 3600.0,
        "delete_old_provider_messages": 3600.0,
        "delete_old_simulator_messages": 3600.0,
        "end_decline_alerts": 60.0,
        "delete_old_evidence": 3600.0,
        "announce_events": 30.0,
        "send_mails": 10.0,
        "send_chat_messages": 10.0,
        "delete_old_notifications": 3600.0,
        "clear_sessions": 3600.0,
    }.items()
}
