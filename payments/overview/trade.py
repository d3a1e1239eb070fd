"""What was charged, day by day: from the totals of the days that are summed up, and from the charges since.

A charge counts on the day (UTC) on which it was made; see `DayTotal`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.db import connection

from payments.models import DayTotal
from payments.models.merchant_access import Limit
from payments.overview.days import Days
from payments.overview.summing import COUNTED, bounds, first_not_done

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
    """How many charges of one kind were made on a day, and for how much."""

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
        """What was approved."""
        return sum(line.amount for line in self._of(Outcome.APPROVED))

    @property
    def approved(self) -> int:
        return sum(line.count for line in self._of(Outcome.APPROVED))

    @property
    def declined(self) -> int:
        return sum(line.count for line in self._of(Outcome.DECLINED))

    @property
    def pending(self) -> int:
        return sum(line.count for line in self._of(Outcome.PENDING))

    @property
    def success_rate(self) -> float | None:
        """The share of approved charges among those that came to an end; None where none did."""
        ended = self.approved + self.declined
        return self.approved / ended if ended else None

    @property
    def reasons(self) -> Sequence[tuple[str, int]]:
        """Why charges were declined, and how many for each reason, most first."""
        counts = Counter[str]()
        for line in self._of(Outcome.DECLINED):
            counts[line.reason] += line.count
        return counts.most_common()

    def stacks(self, name: str) -> Mapping[date, Mapping[str, int]]:
        """The approved `amount` or `count` by source type, for each day of the period."""
        stacks: dict[date, Counter[str]] = {day: Counter() for day in self.days}
        for line in self._of(Outcome.APPROVED):
            stacks[line.day][line.source_type] += getattr(line, name)
        return stacks

    def _of(self, outcome: str) -> list[Line]:
        return [line for line in self.lines if line.outcome == outcome]


def trades_of(livemode: bool, days: Days, limit: Limit = None) -> Mapping[str, Trade]:
    """What the merchants of `limit` charged in `days`, up to this moment: by currency, that of most charges first."""
    live_from = first_not_done(days)
    # A day that is summed up from here on stays on the side of those that are counted.
    values = bounds(Days(live_from, days.last)) | {"live_from": live_from, "begin": days.first}
    with connection.cursor() as cursor:
        cursor.execute(READ, values | {"livemode": livemode, "merchants": None if limit is None else list(limit)})
        lines = defaultdict[str, list[Line]](list)
        for currency, *line in cursor.fetchall():
            lines[currency].append(Line(*line))
    trades = {currency: Trade(days, found) for currency, found in lines.items()}
    return dict(sorted(trades.items(), key=lambda trade: trade[1].charges, reverse=True))
