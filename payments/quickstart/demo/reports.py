"""The simulator's settlement reports of the demo, the last of which differs from our books, and those of our bank."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

from django.contrib.auth.models import User

from payments import clock
from payments.domain.reconciliation import items, runs
from payments.domain.reconciliation.runs import SettlementReport
from payments.ids import new_id, public_id
from payments.models import Attempt, ReconciliationItem, ReconciliationRun
from payments.providers.settlement_reports import Movement, SettlementLine
from payments.quickstart.demo import bank
from payments.quickstart.demo.business_hours import YEAR

PROVIDER = "simulator"
MONTH, WEEK = YEAR / 12, timedelta(days=7)
DIFFERENCES = 12
# What is as new as this may still be matched by the next report, so nothing of it differs.
SETTLING = timedelta(hours=2)
NOTES = ("The provider corrected it in its next report.", "Booked by hand at the bank, see the letter of that day.")


class Reports:
    """The reports from `start` to `present`; only lines about `merchants` differ."""

    def __init__(self, merchants: Collection[UUID], start: datetime, present: datetime, rng: Random) -> None:
        self._merchants, self._present, self._rng = merchants, present, rng
        self._covered_until = start

    def reconcile_monthly(self) -> Iterator[datetime]:
        """Reconcile all months but the last, and yield the end of each, at which its report comes. Raise Busy.

        Where an earlier run covers them, the last report has them too: theirs would miss what the next ones bring.
        """
        if ReconciliationRun.objects.filter(provider=PROVIDER).exists():
            return
        while self._covered_until + MONTH < self._present - MONTH / 2:
            end = self._covered_until + MONTH
            yield end
            runs.reconcile(runs.provider_report(PROVIDER, self._covered_until, end), ReconciliationRun.Origin.WORKER)
            self._covered_until = end

    def reconcile_with_differences(self, operators: Sequence[User]) -> None:
        """Reconcile the last month, with differences of which operators close every third. Raise Busy."""
        with clock.at(self._present):
            report = SettlementReport(PROVIDER, list(self._altered()), self._covered_until, self._present)
            run = runs.reconcile(report, ReconciliationRun.Origin.COMMAND)
            for item in ReconciliationItem.objects.filter(run=run).order_by("id")[::3]:
                items.close(item, self._rng.choice(operators), self._rng.choice(NOTES))
            bank.read_statements(self._covered_until, self._present)

    def _altered(self) -> Iterator[SettlementLine]:
        """Yield the lines of the last month, some of which are missing, have another amount or a second line.

        After them comes what was paid to our bank of each whole week.
        """
        weeks = Counter[datetime]()
        attempts = Attempt.objects.filter(charge__merchant__in=self._merchants)
        ours = {attempt_id.hex for attempt_id in attempts.values_list("id", flat=True)}
        count = 0
        for line in runs.provider_lines(PROVIDER, self._covered_until, self._present):
            if line.booked_at and line.currency == bank.CURRENCY:
                ends = line.booked_at + WEEK - (line.booked_at - self._covered_until) % WEEK
                weeks[ends] += line.amount
            is_old = line.booked_at is not None and line.booked_at < self._present - SETTLING
            if count == DIFFERENCES or line.reference not in ours or not is_old:
                yield line
                continue
            if count % 3 == 1:
                yield replace(line, amount=line.amount + line.kind.sign * 100)
            elif count % 3 == 2:
                yield line
                yield replace(line, reference=new_id().hex, provider_ref=public_id("sp", new_id()))
            count += 1
        for ends, total in weeks.items():
            if total > 0 and ends < self._present:
                yield SettlementLine("", f"SETTLED-{ends:%Y%m%d}", Movement.PAYOUT, -total, bank.CURRENCY, ends)
