"""Dispute rates of merchants by month (UTC), as the card networks count them.

Visa's monitoring compares the disputes of a month with the charges of the same month, Mastercard's with those of the
month before; both look at numbers, and ask for plans of merchants with high ones.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Aggregate, Count, DateField, QuerySet, Sum
from django.db.models.functions import TruncMonth

from payments import clock, sourcetypes
from payments.ids import first_id
from payments.models import DayTotal, Dispute
from payments.models.merchants.merchant_access import Limit, within

BASIS_POINTS = 10_000
MONTHS = 6


@dataclass(frozen=True, slots=True)
class Volume:
    """A number of charges or disputes, and their amounts by currency."""

    count: int = 0
    amounts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a merchant in one mode: its chargebacks, its approved card charges, and those of the month before."""

    first: date
    disputes: Volume
    charges: Volume
    charges_before: Volume

    @property
    def rates(self) -> tuple[int | None, int | None]:
        """Return the rates in basis points, as Visa and as Mastercard count; None without charges."""
        return self._rate(self.charges), self._rate(self.charges_before)

    @property
    def is_high(self) -> bool:
        """Whether either rate is so high that the networks may soon act."""
        highest = max((rate for rate in self.rates if rate is not None), default=0)
        is_many = self.disputes.count >= settings.DISPUTE_WARNING["disputes"]
        return is_many and highest >= settings.DISPUTE_WARNING["basis_points"]

    def _rate(self, charges: Volume) -> int | None:
        return round(self.disputes.count * BASIS_POINTS / charges.count) if charges.count else None


Volumes = Mapping[date, Volume]


def months_of(merchant_id: UUID, livemode: bool, count: int = MONTHS) -> list[Month]:
    """Return the last `count` months of a merchant, newest first, without those that had no dispute."""
    months = _last_months(count + 1)
    [found] = _months([merchant_id], livemode, months).values()
    return [month for month in reversed(found) if month.disputes.count]


def high_rates(limit: Limit) -> list[tuple[UUID, Month]]:
    """Return the merchants, by ID, whose live rate of this month is high, the highest number of disputes first."""
    months = _last_months(2)
    many = _chargebacks(months[-1]).filter(within(limit, "merchant"), livemode=True).order_by()
    counted = many.values("merchant").annotate(number=Count("id"))
    merchants = [row["merchant"] for row in counted.filter(number__gte=settings.DISPUTE_WARNING["disputes"])]
    found = [(merchant, each[-1]) for merchant, each in _months(merchants, True, months).items()]
    high = [(merchant, month) for merchant, month in found if month.is_high]
    return sorted(high, key=lambda pair: pair[1].disputes.count, reverse=True)


def _months(merchants: Collection[UUID], livemode: bool, months: list[date]) -> dict[UUID, list[Month]]:
    """Return each merchant's months, oldest first, without the first of `months`, which is only compared with."""
    disputes = _chargebacks(months[0]).filter(merchant__in=merchants, livemode=livemode)
    totals = DayTotal.objects.filter(merchant__in=merchants, livemode=livemode, day__gte=months[0])
    cards = totals.filter(source_type=sourcetypes.CARD, outcome=DayTotal.Outcome.APPROVED)
    day = DateField()
    disputed = _by_month(disputes, TruncMonth("created_at", tzinfo=UTC, output_field=day), Count("id"))
    charged = _by_month(cards, TruncMonth("day"), Sum("count"))
    return {merchant: list(_compared(months, disputed[merchant], charged[merchant])) for merchant in merchants}


def _compared(months: list[date], disputed: Volumes, charged: Volumes) -> Iterator[Month]:
    for before, month in pairwise(months):
        volumes = (found.get(of, Volume()) for found, of in ((disputed, month), (charged, month), (charged, before)))
        yield Month(month, *volumes)


def _by_month(rows: QuerySet[Any], month: TruncMonth, number: Aggregate) -> defaultdict[UUID, dict[date, Volume]]:
    """Return the volumes of `rows` by merchant and `month`; `number` counts what the rows stand for."""
    grouped = rows.order_by().annotate(month=month).values("merchant", "month", "currency")
    found: defaultdict[UUID, dict[date, Volume]] = defaultdict(dict)
    for row in grouped.annotate(number=number, total=Sum("amount")):
        known = found[row["merchant"]].get(row["month"], Volume())
        amounts = {**known.amounts, row["currency"]: row["total"]}
        found[row["merchant"]][row["month"]] = Volume(known.count + row["number"], amounts)
    return found


def _chargebacks(since: date) -> QuerySet[Dispute]:
    """Return the disputes of cards, reported since a day, whose money was taken at some time."""
    first = first_id(datetime(since.year, since.month, since.day, tzinfo=UTC))
    return Dispute.objects.filter(id__gte=first, money_stage__gt=0, charge__source__type=sourcetypes.CARD)


def _last_months(count: int) -> list[date]:
    """Return the first days of the last `count` months, oldest first; the newest is this month."""
    months = [clock.now().date().replace(day=1)]
    while len(months) < count:
        months.insert(0, (months[0] - timedelta(days=1)).replace(day=1))
    return months
