"""The bank account of the demo: weekly statements made of what the ledger holds, in a file that is read as any other.

The simulator pays to it, and payouts of test mode leave it. One batch is late, and one payout came back that the ledger
has as paid.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from payments.domain.reconciliation import file_layouts, runs
from payments.models import OwnBankAccount, Payout, ReconciliationRun, ReportLine

NAME, NUMBER, CURRENCY = "bpi-demo", "001122334455", "PHP"
ACCOUNT = {"currency": CURRENCY, "last4": NUMBER[-4:], "providers": ["simulator"], "days": 3}
OPENING, FEE = 250_000_00, 250_00
DAY = timedelta(days=1)
# The day, the signed amount, the bank's kind of movement, and its text.
Movement = tuple[date, int, str, str]


def read_statements(since: datetime, present: datetime) -> None:
    """Read what the bank says of the days until yesterday, unless an earlier demo has the account. Raise Busy."""
    account, is_new = OwnBankAccount.objects.get_or_create(name=NAME, defaults=ACCOUNT)
    if not is_new:
        return
    first, last = since.date(), present.date() - DAY
    movements = sorted(each for each in _movements(account, first, last) if each[0] <= last)
    text = "".join(_statements(movements, first, last))
    report = file_layouts.take(text.encode(), NAME).report(f"{NAME}.sta", None, None)
    runs.reconcile(report, ReconciliationRun.Origin.COMMAND)


def _movements(account: OwnBankAccount, first: date, last: date) -> Iterator[Movement]:
    begin = datetime.combine(first, time(), UTC)
    sent = Payout.objects.filter(livemode=False, currency=CURRENCY, sent_at__gte=begin, paid_at__isnull=False)
    for payout in sent.order_by("id"):
        yield payout.paid_at.date(), -payout.amount, "NTRF", f"EREF+{payout.id.hex}"  # type: ignore[union-attr]
        if payout.ended_at:
            yield payout.ended_at.date(), payout.amount, "NRTI", f"EREF+{payout.id.hex} AC01"
    late = datetime.combine(last, time(), UTC) - account.days * DAY
    paid = sent.filter(status=Payout.Status.PAID, paid_at__lt=late)
    for payout in paid.order_by("-paid_at__date", "amount")[:1]:
        yield last - DAY, payout.amount, "NRTI", f"EREF+{payout.id.hex} AC04"
    batches = ReportLine.objects.filter(kind="payout", provider="simulator", currency=CURRENCY)
    for batch in batches.filter(booked_at__range=(begin, late)).order_by("-booked_at")[1:]:
        yield batch.booked_at.date() + DAY, -batch.amount, "NTRF", batch.provider_ref  # type: ignore[union-attr]
    yield last, -FEE, "NCHG", "Account fee"


def _statements(movements: list[Movement], first: date, last: date) -> Iterator[str]:
    """Yield a statement in MT940 for each week."""
    balance, number = OPENING, 0
    while first <= last:
        end, number = min(first + 6 * DAY, last), number + 1
        yield f":20:BPI\n:25:{NUMBER}\n:28C:{number:05}\n:60F:{_balance(first, balance)}\n"
        for day, amount, kind, text in movements:
            if first <= day <= end:
                balance += amount
                yield f":61:{day:%y%m%d%m%d}{'CD'[amount < 0]}{_amount(amount)}{kind}NONREF\n:86:{text}\n"
        yield f":62F:{_balance(end, balance)}\n-\n"
        first = end + DAY


def _balance(day: date, amount: int) -> str:
    return f"{'CD'[amount < 0]}{day:%y%m%d}{CURRENCY}{_amount(amount)}"


def _amount(amount: int) -> str:
    return f"{abs(amount) // 100},{abs(amount) % 100:02}"
