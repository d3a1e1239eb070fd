"""The sorts of the inbox: how the rows of each become entries."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet

from payments import clock
from payments.ids import public_id
from payments.models import Merchant, MoneyCheck
from payments.models.merchants.merchant_access import Limit
from payments.money import format_amount
from payments.overview import decisions, dispute_rates, needs_attention, payout_sorts
from payments.overview.inbox_entry import COUNTED_MAX, ON_CALL, Entry, Sort, list_of, page_of
from payments.sweeps.state import read_state


def decision_entry(found: "decisions.Waiting", step: str) -> Entry:
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


def _holds(limit: Limit, most: int) -> Iterator[Entry]:
    for charge in needs_attention.expiring_holds(limit)[:most]:
        yield Entry(
            key=f"hold:{charge.pk.hex}:{charge.hold_expires_at.isoformat()}",
            what=f"Hold of {public_id('ch', charge.pk)}",
            merchant=charge.merchant.title,
            address=page_of("charge", charge.pk),
            amount=format_amount(charge.amount, charge.currency),
            livemode=charge.livemode,
            until=charge.hold_expires_at,
        )


def _attempts(model: str, what: str, rows: QuerySet[Any]) -> Iterator[Entry]:
    for attempt in rows:
        charge = attempt.charge
        yield Entry(
            key=f"{model}:{attempt.pk.hex}",
            what=f"{what.format(kind=attempt.kind)}, {public_id('ch', charge.pk)}",
            merchant=charge.merchant.title,
            address=page_of(model, attempt.pk),
            amount=format_amount(attempt.amount, charge.currency),
            livemode=charge.livemode,
            since=attempt.created_at,
        )


def _unknown(limit: Limit, most: int) -> Iterator[Entry]:
    yield from _attempts("unknownoutcome", "Unknown outcome: {kind}", needs_attention.unknown_outcomes(limit)[:most])


def _late(limit: Limit, most: int) -> Iterator[Entry]:
    yield from _attempts("attempt", "Late payment being reversed", needs_attention.late_payments(limit)[:most])


def _refunds(limit: Limit, most: int) -> Iterator[Entry]:
    for refund in needs_attention.slow_refunds(limit)[:most]:
        yield Entry(
            key=f"refund:{refund.pk.hex}",
            what=f"Refund pending, {public_id('re', refund.pk)}",
            merchant=refund.merchant.title,
            address=page_of("refund", refund.pk),
            amount=format_amount(refund.amount, refund.currency),
            livemode=refund.livemode,
            since=refund.created_at,
        )


def _payouts(limit: Limit, most: int) -> Iterator[Entry]:
    for payout in needs_attention.stuck_payouts(limit)[:most]:
        yield Entry(
            key=f"payout_stuck:{payout.pk.hex}",
            what=f"Payout {payout}: {payout.obstacle or payout.why}",
            merchant=payout.merchant.title,
            address=page_of("payout", payout.pk),
            amount=format_amount(payout.amount, payout.currency),
            livemode=payout.livemode,
            since=payout.asked_at or payout.created_at,
        )


def _disputes(limit: Limit, most: int) -> Iterator[Entry]:
    for dispute in needs_attention.disputes_to_answer(limit)[:most]:
        yield Entry(
            key=f"dispute:{dispute.pk.hex}:{dispute.stage}",
            what=f"Dispute {public_id('dp', dispute.pk)}: {dispute.reason.replace('_', ' ')}",
            merchant=dispute.merchant.title,
            address=page_of("dispute", dispute.pk),
            amount=format_amount(dispute.amount, dispute.currency),
            livemode=dispute.livemode,
            until=dispute.evidence_due_at,
            ends="evidence due",
        )


def _rates(limit: Limit, most: int) -> Iterator[Entry]:
    found = dispute_rates.high_rates(limit)[:most]
    titles = dict(Merchant.objects.filter(id__in=[merchant for merchant, _ in found]).values_list("id", "title"))
    for merchant, month in found:
        highest = max(rate for rate in month.rates if rate is not None)
        yield Entry(
            key=f"dispute_rate:{merchant.hex}:{month.first}",
            what=f"{month.disputes.count:,} disputes this month: {highest / 100:.2f} % of charges",
            merchant=titles[merchant],
            address=page_of("merchant", merchant),
            livemode=True,
        )


def _failing(limit: Limit, most: int) -> Iterator[Entry]:
    for found in needs_attention.failing_receivers(limit, most):
        number = f"more than {COUNTED_MAX:,}" if found.count >= needs_attention.COUNTED_MAX else f"{found.count:,}"
        merchant = public_id("mer", found.merchant_id)
        query = urlencode({"standing": "failing", "q": merchant})
        yield Entry(
            # Once a receiver and day: it may fail, recover and fail again.
            key=f"failing:{merchant}:{found.livemode}:{found.receiver}:{(found.since or clock.now()).date()}",
            what=f"Webhooks to {found.receiver} fail: {number}",
            merchant=found.merchant,
            address=f"{list_of('webhook')}?{query}",
            livemode=found.livemode,
            since=found.since,
        )


def _given_up(limit: Limit, most: int) -> Iterator[Entry]:
    for webhook in needs_attention.given_up_webhooks(limit)[:most]:
        yield Entry(
            key=f"given_up:{webhook.pk.hex}",
            what=f"Webhook to {webhook.receiver} given up",
            merchant=webhook.merchant.title,
            address=page_of("webhook", webhook.pk),
            livemode=webhook.livemode,
            since=webhook.created_at,
        )


def _differences(limit: Limit, most: int) -> Iterator[Entry]:
    for item in needs_attention.open_differences(limit)[:most]:
        line, charge = item.line, item.charge
        yield Entry(
            key=f"difference:{item.pk}",
            what=f"{item.get_kind_display()}, {item.provider}",
            merchant=charge.merchant.title if charge else "",
            address=page_of("reconciliationitem", item.pk),
            amount=format_amount(line.amount, line.currency) if line and line.amount else "",
            livemode=charge.livemode if charge else None,
            since=item.created_at,
        )


def _events(limit: Limit, most: int) -> Iterator[Entry]:
    for event in needs_attention.provider_events(limit)[:most]:
        yield Entry(
            key=f"provider_event:{event.pk.hex}",
            what=f"{event.account.provider.title()}: {event.why}",
            merchant=event.account.merchant.title,
            address=page_of("providermessage", event.message_id),
            livemode=event.account.livemode,
            since=event.message.received_at,
        )


def _approvals(limit: Limit, most: int) -> Iterator[Entry]:
    yield from (decision_entry(each, "change") for each in decisions.proposed(limit, most))


def _alerts(limit: Limit, most: int) -> Iterator[Entry]:
    for alert in needs_attention.decline_alerts(limit)[:most]:
        yield Entry(
            key=f"decline_alert:{alert.pk.hex}",
            what=f"{alert.quota} declines {alert.get_kind_display()}",
            merchant=alert.merchant.title,
            address=page_of("declinealert", alert.pk),
            livemode=alert.livemode,
            since=alert.created_at,
        )


def _notices(limit: Limit, most: int) -> Iterator[Entry]:
    found = list(needs_attention.notices(limit)[:most])
    ids = {entry.merchant_id for entry in found if entry.merchant_id}
    titles = dict(Merchant.objects.filter(id__in=ids).values_list("id", "title"))
    for entry in found:
        what = ", ".join(entry.fields) or entry.object_type.rpartition(".")[2]
        app_label, _, model = entry.object_type.partition(".")
        yield Entry(
            key=f"notice:{entry.pk}",
            what=f"{what.replace('_', ' ')} {entry.action.replace('_', ' ')} by {entry.actor}",
            merchant=titles.get(entry.merchant_id, ""),
            address=page_of(model, entry.object_id, "history") if app_label == "payments" else list_of("auditentry"),
            since=entry.created_at,
        )


def _checks(limit: Limit, most: int) -> Iterator[Entry]:
    # A check covers all merchants, so only those who work for all of them see it.
    check = MoneyCheck.objects.newest_whole() if limit is None else None
    if check and check.failures:
        yield Entry(
            key=f"money_check:{check.pk.hex}",
            what=f"The money check failed: {len(check.failures)} of its invariants do not hold",
            merchant="",
            address=page_of("moneycheck", check.pk),
            since=check.started_at,
        )


def _workers(limit: Limit, most: int) -> Iterator[Entry]:
    # The workers work for all merchants.
    if limit is not None:
        return
    state = read_state()
    if not state.alive:
        yield Entry(f"no_worker:{state.none_since}", "No worker works", "", ON_CALL, since=state.none_since)
        return
    for worker in state.silent:
        yield Entry(f"worker:{worker.pk.hex}", f"Worker on {worker.host} is silent", "", ON_CALL, since=worker.seen_at)
    for behind in state.behind():
        # Once a sweep and hour: it may catch up and be behind again.
        key = f"sweep:{behind.name}:{behind.since:%Y-%m-%d %H}"
        yield Entry(key, f"Sweep {behind.name} is behind: {behind.why}", "", ON_CALL, since=behind.since)


SORTS = (
    Sort("workers", "Workers and sweeps", "sweep", _workers, page=ON_CALL, names_nobody=True),
    Sort("money_check", "Money check", "moneycheck", _checks),
    payout_sorts.ACCOUNTS,
    Sort("holds", "Holds that expire", "charge", _holds, "money=expiring", needs_attention.expiring_holds),
    Sort("disputes", "Disputes to answer", "dispute", _disputes, "", needs_attention.disputes_to_answer),
    Sort("dispute_rates", "High dispute rates", "merchant", _rates),
    Sort("unknown", "Unknown outcomes", "unknownoutcome", _unknown, "", needs_attention.unknown_outcomes),
    Sort("payouts_stuck", "Payouts that do not go out", "payout", _payouts, "", needs_attention.stuck_payouts),
    Sort("approvals", "Waiting for approval", "approvalrequest", _approvals),
    Sort("notices", "Changes of keys, addresses and terms", "merchant", _notices, rows=needs_attention.notices),
    payout_sorts.TO_APPROVE,
    payout_sorts.FOR_FILE,
    payout_sorts.FILES,
    payout_sorts.FAILED,
    Sort("declines", "Decline alerts", "declinealert", _alerts, "", needs_attention.decline_alerts),
    Sort("late", "Late payments being reversed", "charge", _late, "money=going_back", needs_attention.late_payments),
    Sort(
        "refunds", "Refunds pending for long", "refund", _refunds, "status__exact=pending", needs_attention.slow_refunds
    ),
    Sort(
        "differences",
        "Reconciliation differences",
        "reconciliationitem",
        _differences,
        "state__exact=open",
        needs_attention.open_differences,
    ),
    Sort(
        "provider_events",
        "Provider events",
        "providermessage",
        _events,
        "standing=attention",
        needs_attention.provider_events,
    ),
    Sort("failing", "Webhooks failing", "webhook", _failing, "standing=failing"),
    Sort("given_up", "Webhooks given up", "webhook", _given_up, "standing=given_up", needs_attention.given_up_webhooks),
)
