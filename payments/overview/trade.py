"""Charges by day: from the totals of the days that are summed up, and from the charges since.

A charge counts on the day (UTC) on which it was created; see `DayTotal`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import connection

from payments import clock
from payments.ids import first_id
from payments.models import Charge, DayTotal
from payments.models.merchants.merchant_access import Limit, within
from payments.overview.day_totals import COUNTED, COUNTED_BY, bounds, first_not_done
from payments.overview.days import Days

Outcome = DayTotal.Outcome

# Rows by day, rows by merchant, which have no day, and rows by provider, which have neither.
READ = f"""
SELECT currency, day, merchant_id, provider, source_type, outcome, reason, sum(count)::bigint, sum(amount)::bigint
FROM (
    SELECT currency, day, merchant_id, provider, source_type, outcome, reason, count, amount FROM payments_daytotal
    WHERE livemode = %(livemode)s AND day >= %(begin)s AND day < %(live_from)s
        AND source_type <> 'checkout_session'
        AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
    UNION ALL
    SELECT currency, day, merchant_id, provider, source_type, outcome, reason, count, amount FROM ({COUNTED}) AS live
    WHERE livemode = %(livemode)s AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
) AS total GROUP BY GROUPING SETS (
    (currency, day, source_type, outcome, reason), (currency, merchant_id, outcome), (currency, provider, outcome)
)
"""  # nosec B608 # made of constants
READ_HOURS = f"""
SELECT day, outcome, sum(count)::bigint, sum(amount)::bigint FROM ({COUNTED_BY.format(moment="timestamptz")}) AS live
WHERE livemode = %(livemode)s AND currency = %(currency)s
    AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
GROUP BY 1, 2
"""  # nosec B608 # made of constants
HOUR, HOURS_COUNT = timedelta(hours=1), 24


@dataclass
class Share:
    """The part of a period's charges that a day, an hour, a merchant, a provider or a source type has, or all."""

    counts: Counter[str] = field(default_factory=Counter)
    volume: int = 0

    def add(self, outcome: str, count: int, amount: int) -> None:
        self.counts[outcome] += count
        self.volume += amount if outcome == Outcome.APPROVED else 0

    def add_all(self, shares: Iterable["Share"]) -> "Share":
        """Add the charges of `shares`; return this one."""
        for share in shares:
            self.counts.update(share.counts)
            self.volume += share.volume
        return self

    @property
    def approval_rate(self) -> float | None:
        """Return the share of approved charges among the approved and declined ones, or None."""
        approved = self.counts[Outcome.APPROVED]
        ended = approved + self.counts[Outcome.DECLINED]
        return approved / ended if ended else None


@dataclass(frozen=True, slots=True)
class DayOfType:
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
    lines: Sequence[DayOfType]
    by_merchant: Mapping[UUID, Share] = field(default_factory=dict)
    by_provider: Mapping[str, Share] = field(default_factory=dict)

    @cached_property
    def total(self) -> Share:
        """Return the share that all charges are."""
        return Share().add_all(self.by_day.values())

    @cached_property
    def by_day(self) -> Mapping[date, Share]:
        """Return the share of each day of the period."""
        shares = {day: Share() for day in self.days}
        for line in self.lines:
            shares[line.day].add(line.outcome, line.count, line.amount)
        return shares

    @cached_property
    def by_type(self) -> Mapping[str, Share]:
        """Return the share of each source type."""
        shares = defaultdict[str, Share](Share)
        for line in self.lines:
            shares[line.source_type].add(line.outcome, line.count, line.amount)
        return shares

    @property
    def reasons(self) -> Sequence[tuple[str, int]]:
        """Return the reasons of declines with their numbers, the most frequent first."""
        counts = Counter[str]()
        for line in self.lines:
            if line.outcome == Outcome.DECLINED:
                counts[line.reason] += line.count
        return counts.most_common()


def trades_of(livemode: bool, days: Days, limit: Limit = None) -> Mapping[str, Trade]:
    """Return the charges of the merchants in `limit` on `days` by currency, the one with the most charges first."""
    live_from = first_not_done(days)
    # A day that is summed up from now on is still counted live, so it is not counted twice.
    values = bounds(Days(live_from, days.last)) | {"live_from": live_from, "begin": days.first}
    with connection.cursor() as cursor:
        cursor.execute(READ, values | {"livemode": livemode, "merchants": None if limit is None else list(limit)})
        lines = defaultdict[str, list[DayOfType]](list)
        merchants = defaultdict[str, defaultdict[UUID, Share]](lambda: defaultdict(Share))
        providers = defaultdict[str, defaultdict[str, Share]](lambda: defaultdict(Share))
        for currency, day, merchant_id, provider, source_type, outcome, reason, count, amount in cursor.fetchall():
            if day:
                lines[currency].append(DayOfType(day, source_type, outcome, reason, count, amount))
            elif merchant_id:
                merchants[currency][merchant_id].add(outcome, count, amount)
            else:
                providers[currency][provider].add(outcome, count, amount)
    trades = {name: Trade(days, found, merchants[name], providers[name]) for name, found in lines.items()}
    return dict(sorted(trades.items(), key=lambda trade: trade[1].total.counts.total(), reverse=True))


def has_charges(livemode: bool, limit: Limit = None) -> bool:
    """Return whether the merchants in `limit` have any charge of a mode."""
    # By the index of states, where each is found at once.
    of_any_state = Charge.objects.filter(status__in=Charge.Status.values, captured__in=[True, False], livemode=livemode)
    return of_any_state.filter(within(limit, "merchant")).exists()


def shares_by_hour(livemode: bool, currency: str, limit: Limit = None) -> Mapping[datetime, Share]:
    """Return the share of each of the last 24 hours, this one included."""
    last = clock.now().replace(minute=0, second=0, microsecond=0)
    hours = [last - HOUR * number for number in reversed(range(HOURS_COUNT))]
    return shares_between([*hours, last + HOUR], livemode, currency, limit)


def shares_between(
    moments: Sequence[datetime], livemode: bool, currency: str, limit: Limit = None
) -> Mapping[datetime, Share]:
    """Return the share of the time from each of `moments`, which are in their order, to the next one."""
    *begins, end = moments
    first_ids = [first_id(begin) for begin in begins]
    values: dict[str, Any] = {
        "days": begins,
        "first_ids": first_ids,
        "first_id": first_ids[0],
        "next_id": first_id(end),
    }
    chosen = {"livemode": livemode, "currency": currency, "merchants": None if limit is None else list(limit)}
    shares = {begin: Share() for begin in begins}
    with connection.cursor() as cursor:
        cursor.execute(READ_HOURS, values | chosen)
        for begin, outcome, count, amount in cursor.fetchall():
            shares[begin].add(outcome, count, amount)
    return shares
