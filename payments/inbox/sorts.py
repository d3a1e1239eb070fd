"""The table of what needs attention: each sort of entries once, with its rows and what is shown of one."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from payments import clock
from payments.ids import public_id
from payments.inbox import decisions, rows
from payments.inbox.entries import COUNTED_MAX, ON_CALL, PAGES, Entry, Sort, list_of, page_of
from payments.models import (
    AuditEntry,
    DeclineAlert,
    Merchant,
    MoneyCheck,
    Payout,
    PayoutFile,
)
from payments.models.merchants.merchant_access import Limit
from payments.money import format_amount
from payments.overview.dispute_rates import Month
from payments.sweeps.state import read_state


def decision_entry(found: "decisions.Waiting", step: str = "change") -> Entry:
    """Return the entry of what waits for a decision; `step` is the page that it leads to."""
    row, model = found.row, str(found.row.shown_as._meta.model_name)
    return Entry(
        key=f"{model}:{row.pk.hex}",
        what=found.what,
        merchant=found.merchant,
        address=page_of(model, row.pk, step),
        amount=found.amount,
        livemode=found.livemode,
        since=row.created_at,
        until=row.expires_at,
    )


def _workers(limit: Limit) -> list[Entry]:
    """Return what is wrong with the workers; they work for all merchants, so only without `limit`."""

    def entry(key: str, what: str, since: datetime | None) -> Entry:
        return Entry(key, what, "", ON_CALL, since=since)

    if limit is not None:
        return []
    state = read_state()
    if not state.alive:
        return [entry(f"none:{state.none_since}", "No worker works", state.none_since)]
    silent = [entry(worker.pk.hex, f"Worker on {worker.host} is silent", worker.seen_at) for worker in state.silent]
    return silent + [
        # Once a sweep and hour: it may catch up and be behind again.
        entry(f"{each.name}:{each.since:%Y-%m-%d %H}", f"Sweep {each.name} is behind: {each.why}", each.since)
        for each in state.behind()
    ]


def _itself(entry: Entry) -> Entry:
    return entry


def _rate_entry(found: tuple[Merchant, Month]) -> Entry:
    merchant, month = found
    highest = max(rate for rate in month.rates if rate is not None)
    return Entry(
        key=f"{merchant.pk}:{month.first}",
        what=f"{month.disputes.count:,} disputes this month: {highest / 100:.2f} % of charges",
        merchant=merchant.title,
        address=page_of("merchant", merchant.pk),
    )


def _for_file_entry(found: dict[str, Any]) -> Entry:
    plural = "s" * (found["count"] > 1)
    return Entry(
        # Once for those that wait together: the next file takes the oldest.
        key=f"{found['currency']}:{found['since'].isoformat()}",
        what=f"{found['count']:,} approved payout{plural} in {found['currency']} without a bank file",
        merchant="",
        address=f"{PAGES}/payoutfile/add/",
        amount=format_amount(found["total"], found["currency"]),
        since=found["since"],
    )


def _notice_entry(entry: AuditEntry) -> Entry:
    app_label, _, model = entry.object_type.partition(".")
    what = ", ".join(entry.fields) or model
    return Entry(
        key=f"{entry.pk}",
        what=f"{what.replace('_', ' ')} {entry.action.replace('_', ' ')} by {entry.actor}",
        merchant=entry.merchant_title or "",  # type: ignore[attr-defined] # annotated
        address=page_of(model, entry.object_id, "history") if app_label == "payments" else list_of("auditentry"),
        since=entry.created_at,
    )


def _failing_entry(found: rows.FailingReceiver) -> Entry:
    number = f"more than {COUNTED_MAX:,}" if found.count >= rows.COUNTED_MAX else f"{found.count:,}"
    merchant = public_id("mer", found.merchant_id)
    return Entry(
        # Once a receiver and day: it may fail, recover and fail again.
        key=f"{merchant}:{found.livemode}:{found.receiver}:{(found.since or clock.now()).date()}",
        what=f"Webhooks to {found.receiver} fail: {number}",
        merchant=found.merchant,
        address=f"{list_of('webhook')}?{urlencode({'standing': 'failing', 'q': merchant})}",
        livemode=found.livemode,
        since=found.since,
    )


def _file_text(file: PayoutFile) -> str:
    return f"Bank file {public_id('pf', file.pk)}, {'' if file.downloaded_at else 'not downloaded and '}not sent"


def _check_text(check: MoneyCheck) -> str:
    return f"The money check failed: {len(check.failures)} of its invariants do not hold"


def _obstacle_text(payout: Payout) -> str:
    return f"Payout {payout}: {payout.obstacle or payout.why}"


def _alert_text(alert: DeclineAlert) -> str:
    return f"{alert.quota} declines {alert.get_kind_display()}"


SORTS = (
    Sort("workers", "Workers and sweeps", "sweep", _workers, entry=_itself, all_at=ON_CALL, is_impersonal=True),
    Sort("money_check", "Money check", "moneycheck", rows.failed_checks, _check_text, since="started_at"),
    Sort(
        "payout_accounts",
        "Bank accounts that change",
        "payoutaccount",
        rows.new_payout_accounts,
        "New bank account for {0.currency}: {0}",
        until="effective_at",
        ends="takes effect",
    ),
    Sort(
        "holds",
        "Holds that expire",
        "charge",
        rows.expiring_holds,
        "Hold of {0}",
        "money=expiring",
        until="hold_expires_at",
        again="hold_expires_at",
    ),
    Sort(
        "disputes",
        "Disputes to answer",
        "dispute",
        rows.disputes_to_answer,
        lambda dispute: f"Dispute {dispute}: {dispute.reason.replace('_', ' ')}",
        until="evidence_due_at",
        ends="evidence due",
        again="stage",
    ),
    Sort("dispute_rates", "High dispute rates", "merchant", rows.high_dispute_rates, entry=_rate_entry),
    Sort(
        "unknown",
        "Unknown outcomes",
        "unknownoutcome",
        rows.unknown_outcomes,
        "Unknown outcome: {0.kind}, {0.charge}",
        owner="charge",
    ),
    Sort("payouts_stuck", "Payouts that do not go out", "payout", rows.stuck_payouts, _obstacle_text, since="since"),
    Sort("approvals", "Waiting for approval", "approvalrequest", decisions.proposed, entry=decision_entry),
    Sort("notices", "Changes of keys, addresses and terms", "merchant", rows.notices, entry=_notice_entry),
    Sort("payouts", "Payouts to approve", "payout", rows.payouts_to_approve, "Payout {0}", "approval=waiting"),
    Sort(
        "payouts_for_file",
        "Payouts without a bank file",
        "payoutfile",
        rows.payouts_for_file,
        entry=_for_file_entry,
        is_impersonal=True,
        right="add",
    ),
    Sort("payout_files", "Bank files not sent", "payoutfile", rows.files_to_send, _file_text, "status=open"),
    Sort(
        "payouts_failed",
        "Payouts failed or returned",
        "payout",
        rows.failed_payouts,
        lambda payout: f"{payout}: {payout.failure_code.replace('_', ' ')}",
        "status=failed",
        since="ended_at",
    ),
    Sort("declines", "Decline alerts", "declinealert", rows.decline_alerts, _alert_text),
    Sort(
        "late",
        "Late payments being reversed",
        "charge",
        rows.late_payments,
        "Late payment being reversed, {0.charge}",
        "money=going_back",
        owner="charge",
    ),
    Sort(
        "refunds",
        "Refunds pending for long",
        "refund",
        rows.slow_refunds,
        "Refund pending, {0}",
        "status__exact=pending",
    ),
    Sort(
        "differences",
        "Reconciliation differences",
        "reconciliationitem",
        rows.open_differences,
        lambda item: f"{item.get_kind_display()}, {item.provider}",
        "state__exact=open",
        owner="charge",
    ),
    Sort(
        "provider_events",
        "Provider events",
        "providermessage",
        rows.provider_events,
        lambda event: f"{event.account.provider.title()}: {event.why}",
        "standing=attention",
        owner="account",
        since="message.received_at",
        page=lambda event: page_of("providermessage", event.message_id),
    ),
    Sort(
        "failing",
        "Webhooks failing",
        "webhook",
        rows.failing_receivers,
        filters="standing=failing",
        entry=_failing_entry,
    ),
    Sort(
        "given_up",
        "Webhooks given up",
        "webhook",
        rows.given_up_webhooks,
        "Webhook to {0.receiver} given up",
        "standing=given_up",
    ),
    Sort(
        "endpoints",
        "Webhook endpoints disabled",
        "webhookendpoint",
        rows.disabled_endpoints,
        "Nothing has reached {0} for days: it is disabled",
        "standing=gave_up",
        since="gave_up_at",
        again="gave_up_at",
    ),
)
