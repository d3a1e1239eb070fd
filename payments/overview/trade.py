"""Charges by day: from the totals of the days that are summed up, and from the charges since.

A charge counts on the day (UTC) on which it was created; see `DayTotal`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.db import connection

from payments.models import DayTotal
from payments.models.merchants.merchant_access import Limit
from payments.overview.day_totals import COUNTED, bounds, first_not_done
from payments.overview.days import Days

Outcome = DayTotal.Outcome

READ = f"""
SELECT currency, day, source_type, outcome, reason, sum(count)::bigint, sum(amount)::bigint FROM (
    SELECT currency, day, source_type, outcome, reason, count, amount FROM payments_daytotal
    WHERE livemode = %(livemode)s AND day >= %(begin)s AND day < %(live_from)s
        AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
    UNION ALL
    SELECT currency, day, source_type, outcome, reason, count, amount FROM ({COUNTED}) AS live
    WHERE livemode = %(livemode)s AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
) AS total GROUP BY currency, day, source_type, outcome, reason
"""  # nosec B608 # made of constants


@dataclass(frozen=True, slots=True)
class Line:
    """The number and the amount of a day's charges of one type and outcome."""

    day: date
    source_type: str
    outcome: str
    reason: str
    count: int
    amount: int


@dataclass(frozen=True)
class Trade:
    """The charges of one mode and currency in a period; amounts are in the currency's smallest unit."""

    days: Days
    lines: Sequence[Line]

    @property
    def charges(self) -> int:
        return sum(line.count for line in self.lines)

    @property
    def volume(self) -> int:
        """Return the approved amount."""
        return sum(line.amount for line in self._of(Outcome.APPROVED))

    @property
    def approved(self) -> int:
        return sum(line.count for line in self._of(Outcome.APPROVED))

    @property
    def declined(self) -> int:
        return sum(line.count for line in self._of(Outcome.DECLINED))

    @property
    def abandoned(self) -> int:
        """Return how many payers left, or did not confirm in time; these are no declines."""
        return sum(line.count for line in self._of(Outcome.ABANDONED))

    @property
    def pending(self) -> int:
        return sum(line.count for line in self._of(Outcome.PENDING))

    @property
    def success_rate(self) -> float | None:
        """Return the share of approved charges among the approved and declined ones, or None."""
        ended = self.approved + self.declined
        return self.approved / ended if ended else None

    @property
    def reasons(self) -> Sequence[tuple[str, int]]:
        """Return the reasons of declines with their numbers, the most frequent first."""
        counts = Counter[str]()
        for line in self._of(Outcome.DECLINED):
            counts[line.reason] += line.count
        return counts.most_common()

    def stacks(self, name: str) -> Mapping[date, Mapping[str, int]]:
        """Return the approved `amount` or `count` by source type, for each day of the period."""
        stacks: dict[date, Counter[str]] = {day: Counter() for day in self.days}
        for line in self._of(Outcome.APPROVED):
            stacks[line.day][line.source_type] += getattr(line, name)
        return stacks

    def outcomes(self) -> Mapping[date, Mapping[str, int]]:
        """Return the number of charges that ended by outcome, for each day of the period."""
        stacks: dict[date, Counter[str]] = {day: Counter() for day in self.days}
        for line in self.lines:
            if line.outcome != Outcome.PENDING:
                stacks[line.day][line.outcome] += line.count
        return stacks

    def _of(self, outcome: str) -> list[Line]:
        return [line for line in self.lines if line.outcome == outcome]


def trades_of(livemode: bool, days: Days, limit: Limit = None) -> Mapping[str, Trade]:
    """Return the charges of the merchants in `limit` on `days` by currency, the one with the most charges first."""
    live_from = first_not_done(days)
    # A day that is summed up from now on is still counted live, so it is not counted twice.
    values = bounds(Days(live_from, days.last)) | {"live_from": live_from, "begin": days.first}
    with connection.cursor() as cursor:
        cursor.execute(READ, values | {"livemode": livemode, "merchants": None if limit is None else list(limit)})
        lines = defaultdict[str, list[Line]](list)
        for currency, *line in cursor.fetchall():
            lines[currency].append(Line(*line))
    trades = {currency: Trade(days, found) for currency, found in lines.items()}
    return dict(sorted(trades.items(), key=lambda trade: trade[1].charges, reverse=True))
