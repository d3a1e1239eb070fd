"""Entries of rows that are not read from their columns alone, and the texts of others."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from payments import clock
from payments.domain.reconciliation.bank.balances import Late
from payments.ids import public_id
from payments.inbox import decisions, rows
from payments.inbox.entries import COUNTED_MAX, ON_CALL, OPEN, PAGES, Entry, list_of, page_of
from payments.models import (
    Attempt,
    AuditEntry,
    DeclineAlert,
    Dispute,
    Merchant,
    MoneyCheck,
    Payout,
    PayoutAccount,
    PayoutFile,
)
from payments.models.merchants.merchant_access import Limit
from payments.money import shown_amount
from payments.overview.dispute_rates import Month
from payments.sweeps.state import read_state


def decision_entry(found: "decisions.Waiting", step: str = "change") -> Entry:
    """Return the entry of what waits for a decision; `step` is the page that it leads to."""
    row, model = found.row, str(found.row.shown_as._meta.model_name)
    return Entry(
        key=f"{model}:{row.pk.hex}",
        what=found.what,
        about=found.about,
        merchant=found.merchant,
        address=page_of(model, row.pk, step),
        act=pgettext("act", "Review") if step == "decide" else str(OPEN),
        amount=found.amount,
        livemode=found.livemode,
        since=row.created_at,
        until=row.expires_at,
    )


def workers(limit: Limit) -> list[Entry]:
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
        entry(f"{each.sweep.pk}:{each.since:%Y-%m-%d %H}", f"“{each.sweep}” is behind: {each.why}", each.since)
        for each in state.behind()
    ]


def rate_entry(found: tuple[Merchant, Month]) -> Entry:
    """Return the entry of a merchant with a high rate of disputes."""
    merchant, month = found
    highest = max(rate for rate in month.rates if rate is not None)
    return Entry(
        key=f"{merchant.pk}:{month.first}",
        what=f"{month.disputes.count:,} disputes this month: {highest / 100:.2f} % of charges",
        merchant=merchant.title,
        address=page_of("merchant", merchant.pk),
    )


def for_file_entry(found: dict[str, Any]) -> Entry:
    """Return the entry of the payouts of one currency that no bank file has."""
    plural = "s" * (found["count"] > 1)
    return Entry(
        # Once for those that wait together: the next file takes the oldest.
        key=f"{found['currency']}:{found['since'].isoformat()}",
        what=f"{found['count']:,} approved payout{plural} in {found['currency']} without a bank file",
        merchant="",
        address=f"{PAGES}/payoutfile/add/",
        amount=shown_amount(found["total"], found["currency"]),
        since=found["since"],
    )


def late_words(late: Late) -> str:
    """Return in words what has not left or reached an account of ours."""
    if late.what == "statements":
        return f"No statement of {late.account} since {late.since:%d %b %Y}"
    noun = late.what if late.count > 1 else {"payouts": "payout", "batches": "batch"}[late.what]
    verb = "left" if late.what == "payouts" else "reached"
    return f"{late.count:,} {noun} not {verb} {late.account} in {late.account.days} days"


def late_entry(late: Late) -> Entry:
    """Return the entry of what has not left or reached an account of ours."""
    return Entry(
        # Once for those that are late together.
        key=f"{late.account.pk}:{late.what}:{late.since.isoformat()}",
        what=late_words(late),
        merchant="",
        address=page_of("ownbankaccount", late.account.pk),
        amount=shown_amount(late.total, late.account.currency) if late.total else "",
        since=late.since,
    )


# Fields in the words of accountants, and who changed something without signing in.
CALLED = {"rates": "fees"}
COMMAND = "a command on the server"


def notice_entry(entry: AuditEntry) -> Entry:
    """Return the entry of a change that leads money, data or trust elsewhere."""
    app_label, _, model = entry.object_type.partition(".")
    what = ", ".join(CALLED.get(name, name) for name in entry.fields).replace("_", " ") or entry.object_sort
    return Entry(
        key=f"{entry.pk}",
        what=f"{what} {entry.action.replace('_', ' ')} by {entry.actor if entry.operator_id else COMMAND}",
        merchant=entry.merchant_title or "",  # type: ignore[attr-defined] # annotated
        address=page_of(model, entry.object_id, "history") if app_label == "payments" else list_of("auditentry"),
        since=entry.created_at,
    )


def failing_entry(found: rows.FailingReceiver) -> Entry:
    """Return the entry of a receiver whose webhooks fail."""
    more = _("more than {count}").format(count=f"{COUNTED_MAX:,}")
    number = more if found.count >= rows.COUNTED_MAX else f"{found.count:,}"
    fail = ngettext("{count} webhook to {receiver} fails", "{count} webhooks to {receiver} fail", found.count)
    merchant = public_id("mer", found.merchant_id)
    return Entry(
        # Once a receiver and day: it may fail, recover and fail again.
        key=f"{merchant}:{found.livemode}:{found.receiver}:{(found.since or clock.now()).date()}",
        what=fail.format(count=number, receiver=found.receiver),
        merchant=found.merchant,
        address=f"{list_of('webhook')}?{urlencode({'delivery': 'failing', 'q': merchant})}",
        livemode=found.livemode,
        since=found.since,
    )


def file_text(file: PayoutFile) -> str:
    """Return what a bank file lacks."""
    return f"Bank file {'' if file.downloaded_at else 'not downloaded and '}not sent"


def check_text(check: MoneyCheck) -> str:
    """Return how much of a money check failed."""
    return f"The money check failed: {len(check.failures)} of its invariants do not hold"


def dispute_text(dispute: Dispute) -> str:
    """Return a dispute with the bank's reason."""
    if dispute.reason in ("", "general"):
        return _("Disputed")
    return _("Disputed as {reason}").format(reason=_(dispute.reason.replace("_", " ")))


def unknown_text(attempt: Attempt) -> str:
    """Return of which operation the outcome is unknown."""
    return f"Outcome of a {'payment' if attempt.kind == Attempt.Kind.AUTHORIZE else attempt.kind} unknown"


def failed_text(payout: Payout) -> str:
    """Return whether the bank refused a payout or sent it back."""
    return _("Payout came back from the bank") if payout.failure_code == "returned" else _("Payout failed")


def alert_text(alert: DeclineAlert) -> str:
    """Return what a decline alert counted."""
    return f"{alert.quota} declines {alert.get_kind_display()}"


def account_text(account: PayoutAccount) -> str:
    """Return a bank account as much as is shown of it."""
    return _("account ending in {last4}").format(last4=account.last4)


def file_about(file: PayoutFile) -> str:
    """Return what a bank file pays, and when."""
    return f"{file.count:,} payout{'s' * (file.count > 1)}, to pay on {file.execute_on:%d %b %Y}"


def failed_about(payout: Payout) -> str:
    """Return why a payout failed, and to which account it went."""
    return f"{_(payout.failure_code.replace('_', ' '))}, {account_text(payout.account)}"
