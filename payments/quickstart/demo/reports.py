"""The simulator's reports of the year as they were taken in, and a last one that differs from our books."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from django.contrib.auth.models import User
from django.db import connection

from payments import clock
from payments.domain.reconciliation import items, runs
from payments.domain.reconciliation.runs import SettlementReport
from payments.ids import new_id, public_id
from payments.models import Attempt, Posting, ReconciliationItem, ReconciliationRun, ReportLine
from payments.providers.settlement_reports import Movement, SettlementLine
from payments.providers.simulator.models import Entry, SimulatedOperation
from payments.quickstart.demo.rhythm import YEAR
from payments.quickstart.demo.rows import Rows

PROVIDER = "simulator"
PARTS = 12
# Of what was booked in the last days, how much differs.
DIFFERS_WITHIN = timedelta(days=20)
DIFFERENCES = 12
NOTES = ("The provider corrected it in its next report.", "Booked by hand at the bank, see the letter of that day.")
MOVEMENTS = {
    Posting.Kind.CAPTURE: Movement.CAPTURE,
    Posting.Kind.LATE: Movement.CAPTURE,
    Posting.Kind.REVERSAL: Movement.VOID,
    Posting.Kind.VOID: Movement.VOID,
    Posting.Kind.REFUND_SETTLED: Movement.REFUND,
    Posting.Kind.REFUND_FAILED: Movement.REFUND_RETURNED,
}
COUNT = """
UPDATE payments_reconciliationrun run SET lines = told.count, new_lines = told.count, matched = told.count
FROM (SELECT run_id, count(*) FROM payments_reportline WHERE run_id = ANY(%s) GROUP BY run_id) AS told
WHERE told.run_id = run.id
"""


class Reports:
    """Twelve reports, each of a part of the year before `present`, and what is to be in a last one."""

    def __init__(self, present: datetime, random: Random) -> None:
        self._start, self._present, self._random = present - YEAR, present, random
        self._runs = [self._new_run(number) for number in range(PARTS)]
        self._numbers = [0] * PARTS
        self._differing: list[SettlementLine] = []

    def take_in(self, rows: Rows) -> None:
        """Adds to the rows of a story the lines that tell of its money; a few late ones are kept to differ."""
        lines = list(_lines(rows))
        if lines and self._is_to_differ(lines):
            self._differing += lines
            return
        postings = {(each.attempt_id, MOVEMENTS[each.kind]): each for each in rows.of(Posting) if _tells(each)}
        attempts = {attempt.reference: attempt for attempt in rows.of(Attempt)}
        for line in lines:
            attempt = attempts[line.reference]
            # What we have not heard of yet has no posting to match.
            rows.add(self._stored(line, attempt, postings.get((attempt.id, line.kind))))

    def close(self, operators: Sequence[User]) -> None:
        """Takes in the report that differs; operators close some of the items. Raises Busy."""
        with connection.cursor() as cursor:
            cursor.execute(COUNT, [[run.pk for run in self._runs]])
        lines = [told for number, line in enumerate(self._differing) for told in _altered(line, number)]
        report = SettlementReport(PROVIDER, lines, self._present - DIFFERS_WITHIN, self._present)
        run = runs.reconcile(report, ReconciliationRun.Origin.COMMAND)
        for item in ReconciliationItem.objects.filter(run=run).order_by("id")[::3]:
            items.close(item, self._random.choice(operators), self._random.choice(NOTES))

    def _new_run(self, number: int) -> ReconciliationRun:
        begin, end = (self._start + YEAR * each / PARTS for each in (number, number + 1))
        with clock.at(end):
            origin = ReconciliationRun.Origin.WORKER
            return ReconciliationRun.objects.create(
                provider=PROVIDER, started_by=origin, covers_from=begin, covers_to=end
            )

    def _is_to_differ(self, lines: Sequence[SettlementLine]) -> bool:
        if len(self._differing) >= DIFFERENCES or lines[0].booked_at < self._present - DIFFERS_WITHIN:
            return False
        return len(lines) == 1 and lines[0].booked_at < self._present - timedelta(hours=2)

    def _stored(self, line: SettlementLine, attempt: Attempt, posting: Posting | None) -> ReportLine:
        part = min(int((line.booked_at - self._start) / YEAR * PARTS), PARTS - 1)
        self._numbers[part] += 1
        run = self._runs[part]
        return ReportLine(
            run=run,
            number=self._numbers[part],
            provider=PROVIDER,
            reference=line.reference,
            provider_ref=line.provider_ref,
            kind=line.kind.value,
            amount=line.amount,
            currency=line.currency,
            booked_at=line.booked_at,
            attempt=attempt,
            posting=posting,
            matched_at=run.created_at if posting else None,
        )


def _lines(rows: Rows) -> Iterator[SettlementLine]:
    """The lines of the simulator's report that tell of these entries of its books."""
    operations = {each.reference: public_id("so", each.id) for each in rows.of(SimulatedOperation)}
    for entry in rows.of(Entry):
        if entry.kind in list(Movement):
            kind = Movement(entry.kind)
            ref = operations.get(entry.reference, str(entry.payment))
            amount, currency = kind.sign * entry.amount, entry.payment.currency
            yield SettlementLine(entry.reference, ref, kind, amount, currency, entry.created_at)


def _tells(posting: Posting) -> bool:
    return posting.account == Posting.Account.PROVIDER_RECEIVABLE and posting.attempt_id is not None


def _altered(line: SettlementLine, number: int) -> Iterator[SettlementLine]:
    """`line` as the provider tells it otherwise: never, with another amount, or beside one that we know nothing of."""
    if number % 3 == 1:
        yield replace(line, amount=line.amount + line.kind.sign * 100)
    elif number % 3 == 2:
        yield line
        yield replace(line, reference=new_id().hex, provider_ref=public_id("sp", new_id()))
