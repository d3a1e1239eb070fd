"""Payouts that a bank has, and statements of our account that are read."""

from datetime import UTC, datetime
from typing import Any

from payments import clock
from payments.domain.reconciliation import file_layouts, runs
from payments.models import (
    OwnBankAccount,
    Payout,
    PayoutAccount,
    PayoutFile,
    ReconciliationItem,
    ReconciliationRun,
    ReportLine,
)
from tests.payouts.live import make_file, ready, sent
from tests.reconciliation.bank.files import ACCOUNT, camt, entry

SENT = datetime(2026, 11, 25, 4, tzinfo=UTC)


def own_account(**columns: Any) -> OwnBankAccount:
    given = {"name": "bpi-payouts", "currency": "PHP", "last4": ACCOUNT[-4:], "providers": ["simulator"], "days": 3}
    return OwnBankAccount.objects.create(**given | columns)


def sent_file(account: PayoutAccount, *amounts: int) -> tuple[PayoutFile, list[Payout]]:
    """Return a bank file of payouts of these amounts that the bank has had since SENT, and its payouts."""
    payouts = [ready(account, amount) for amount in amounts]
    file = sent(make_file())
    PayoutFile.objects.filter(pk=file.pk).update(sent_at=SENT)
    Payout.objects.filter(file=file).update(sent_at=SENT)
    return file, payouts


def statement(*amounts: str) -> str:
    """Return a statement with a movement of each of these amounts."""
    return camt(*map(entry, amounts))


def read(text: str, account: OwnBankAccount) -> ReconciliationRun:
    """Read a bank's file as the command does."""
    report = file_layouts.take(text.encode(), account.name).report("statement.xml", None, None)
    return runs.reconcile(report, ReconciliationRun.Origin.COMMAND)


def batch(amount: int, ref: str, day: int = 24, provider: str = "simulator") -> ReportLine:
    """Store what the report of a provider says that it paid to our bank."""
    now = clock.now()
    run = ReconciliationRun.objects.create(provider=provider, started_by="command", covers_to=now)
    moment = datetime(2026, 11, day, tzinfo=UTC)
    known = {"run": run, "number": 1, "provider": provider, "kind": "payout", "currency": "PHP", "booked_at": moment}
    return ReportLine.objects.create(amount=-amount, provider_ref=ref, reference="", **known)


def items() -> list[tuple[str, int]]:
    """Return the kinds of the open items that stand, each with the bank's amount."""
    rows = ReconciliationItem.objects.filter(state="open", vanished_at=None)
    return sorted(rows.values_list("kind", "line__amount"))


def matched() -> list[int]:
    """Return the amounts of the bank's movements that are matched."""
    rows = ReportLine.objects.filter(kind="booked", matched_at__isnull=False)
    return sorted(rows.values_list("amount", flat=True))
