"""How an account of ours stands by its statements: what the bank has, what we expect, and what is late or missing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Sum

from payments import clock
from payments.models import BankLine, BankStatement, OwnBankAccount, Payout, ReportLine

MOST_STATEMENTS = 400
# What is older was shown for a month already.
LATE_SHOWN = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Late:
    """What has not left or reached an account in its days: `what` it is, how much, and since when."""

    account: OwnBankAccount
    what: str
    count: int
    total: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """An account after its newest statement, in the smallest unit: `by_ledger` is what it had when its first statement
    began, with all that providers paid to it and without all payouts of it that we have sent."""

    by_bank: int
    by_ledger: int
    arriving: int
    leaving: int
    unmatched: int

    @property
    def unexplained(self) -> int:
        """Return what neither payments on their way nor movements that are not matched explain."""
        return self.by_bank - self.by_ledger + self.arriving - self.leaving - self.unmatched


def statements_of(account: OwnBankAccount) -> list[BankStatement]:
    """Return the newest statements, oldest first."""
    newest = account.statements.order_by("-last_day", "-first_day", "-pk")[:MOST_STATEMENTS]
    return list(newest)[::-1]


def breaks(statements: list[BankStatement]) -> Iterator[tuple[BankStatement, str, int]]:
    """Yield each statement that does not begin where the one before ends, or does not add up; how, and by how much."""
    for statement in statements:
        if statement.off:
            yield statement, "balances and movements differ", statement.off
    for before, after in pairwise(statements):
        if before.closing != after.opening:
            sort = "an overlap" if after.first_day < before.last_day else "a gap"
            yield after, f"{sort} after {before}", after.opening - before.closing


def standing_of(account: OwnBankAccount) -> Standing | None:
    """Return how the account stands; None before its first statement."""
    first, last = account.statements.order_by("last_day", "pk").first(), account.statements.order_by("last_day").last()
    if not first or not last:
        return None
    during = (datetime.combine(first.first_day, time(), UTC), _midnight(last) + timedelta(days=1))
    sent, batches = _sent(account, *during), _batches(account, *during)
    lines = ReportLine.objects.filter(kind=ReportLine.Kind.BOOKED, provider=account.name, booked_at__lt=during[1])
    return Standing(
        by_bank=statements_of(account)[-1].closing,
        by_ledger=first.opening - _sum(batches) - _sum(sent),
        arriving=-_sum(batches.filter(matched_at=None)),
        leaving=_sum(sent.filter(~LEFT)),
        unmatched=_sum(lines.filter(matched_at=None)),
    )


def late(account: OwnBankAccount) -> Iterator[Late]:
    """Yield what has not left or arrived in the account's days, by its newest statement."""
    ends = account.statements.aggregate(first=Min("first_day"))["first"]
    last = account.statements.order_by("last_day").last()
    if not last:
        return
    # Only what a statement could have shown is missing in it.
    until = _midnight(last) + timedelta(days=1) - timedelta(days=account.days)
    since = max(datetime.combine(ends, time(), UTC), until - LATE_SHOWN)
    found: list[tuple[str, QuerySet[Any], str]] = [
        ("payouts", _sent(account, since, until).filter(~LEFT), "sent_at"),
        ("batches", _batches(account, since, until).filter(matched_at=None), "booked_at"),
    ]
    for what, rows, moment in found:
        sums = rows.aggregate(count=Count("pk"), total=Sum("amount"), since=Min(moment))
        if sums["count"]:
            yield Late(account, what, sums["count"], abs(int(sums["total"])), sums["since"])
    if clock.now() - _midnight(last) > timedelta(days=account.days + 1):
        yield Late(account, "statements", 0, 0, _midnight(last))


_OUT = BankLine.objects.filter(line__matched_at__isnull=False, line__amount__lt=0)
LEFT = Exists(_OUT.filter(payout=OuterRef("pk"))) | Exists(_OUT.filter(file=OuterRef("file")))


def _sent(account: OwnBankAccount, since: datetime, until: datetime) -> QuerySet[Payout]:
    """Return the payouts in files that the account pays, sent in that time, but for those that the ledger has back.

    Those of test mode leave the account to which the simulator pays.
    """
    sent = Q(file__debtor_last4=account.last4, file__sent_at__gte=since, file__sent_at__lt=until)
    if "simulator" in account.providers:
        sent |= Q(livemode=False, sent_at__gte=since, sent_at__lt=until)
    return Payout.objects.filter(sent, currency=account.currency).exclude(status=Payout.Status.FAILED)


def _batches(account: OwnBankAccount, since: datetime, until: datetime) -> QuerySet[ReportLine]:
    own = Q(kind=ReportLine.Kind.PAYOUT, provider__in=account.providers, currency=account.currency)
    return ReportLine.objects.filter(own, booked_at__gte=since, booked_at__lt=until)


def _sum(rows: QuerySet[Any]) -> int:
    return int(rows.aggregate(total=Sum("amount"))["total"] or 0)


def _midnight(statement: BankStatement) -> datetime:
    return datetime.combine(statement.last_day, time(), UTC)
