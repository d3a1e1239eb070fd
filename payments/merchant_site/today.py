"""What was sold today so far, beside the same day of the week before: as sums, and as two lines of a chart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from django.utils import timezone
from django.utils.dateformat import format as in_format
from django.utils.translation import gettext as _

from payments import clock
from payments.admin.figures.charts import BOTTOM, OUTCOMES, TOP, round_numbers, tick_lines
from payments.admin.figures.comparisons import compared_rates
from payments.admin.framework.formats import money
from payments.models.merchants.merchant_access import Limit
from payments.money import major_units
from payments.overview.trade import HOUR, Outcome, Share, shares_between

DAY, WEEK = timedelta(days=1), timedelta(days=7)
LABELLED = (0, 6, 12, 18)
WHOLE = 100.0
# Percent of the width, and pixels down.
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Curve:
    """What was sold until each moment of a day, from its beginning."""

    begin: datetime
    sums: Sequence[tuple[datetime, int]]

    @property
    def total(self) -> int:
        return self.sums[-1][1]

    def lines(self, most: int) -> list[tuple[float, float, float, float]]:
        """Return the lines between the points, with `most` at the top of the chart."""
        return [(*first, *second) for first, second in pairwise(self.points(most))]

    def points(self, most: int) -> list[Point]:
        """Return a point for each moment."""
        scale = (BOTTOM - TOP) / most
        return [
            (round(WHOLE * ((end - self.begin) / DAY), 2), round(BOTTOM - sum_ * scale, 2)) for end, sum_ in self.sums
        ]


@dataclass(frozen=True, slots=True)
class Today:
    """The share of today so far, that of the same hours a week ago, and the curves of both days."""

    currency: str
    day: str
    share: Share
    before: Share
    now: Curve
    then: Curve

    @property
    def volume(self) -> str:
        return money(self.share.volume, self.currency)

    @property
    def more(self) -> int:
        """Return how much more was sold than a week ago; negative for less."""
        return self.share.volume - self.before.volume

    @property
    def difference(self) -> str:
        return money(abs(self.more), self.currency)

    @property
    def rate(self) -> str:
        rate = self.share.approval_rate
        against = compared_rates(rate, self.before.approval_rate)
        approved = _("{rate} approved").format(rate=f"{rate or 0:.0%}")
        return "" if rate is None else approved + (f", {against}" if against else "")

    @property
    def ended(self) -> int:
        return sum(self.share.counts[outcome] for outcome in OUTCOMES)

    @property
    def failed(self) -> int:
        return self.ended - self.approved

    @property
    def approved(self) -> int:
        return self.share.counts[Outcome.APPROVED]

    @property
    def most(self) -> int:
        return max(self.now.total, self.then.total)

    @property
    def chart(self) -> dict[str, object]:
        """Return the lines of the chart, its axes, and where today ends."""
        unit = max(1, round(1 / major_units(1, self.currency)))
        ticks = round_numbers(-(-self.most // unit))
        top = ticks[-1] * unit
        return {
            "ticks": list(tick_lines(ticks)),
            "hours": [(round(WHOLE * hour / 24, 2), f"{hour:02}:00") for hour in LABELLED],
            "then": self.then.lines(top),
            "now": self.now.lines(top),
            "end": self.now.points(top)[-1],
        }


def today_of(livemode: bool, currency: str, limit: Limit) -> Today:
    """Return the sales of the merchants in `limit` today, in the display time zone."""
    now = clock.now()
    local = timezone.localtime(now)
    begin = local.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
    hours = [begin + HOUR * number for number in range(24)]
    past = sorted({*(hour - WEEK for hour in hours), now - WEEK})
    shares = shares_between([*(hour for hour in hours if hour < now), now], livemode, currency, limit)
    shares_then = shares_between([*past, begin - WEEK + DAY], livemode, currency, limit)
    so_far = Share().add_all(share for moment, share in shares_then.items() if moment < now - WEEK)
    total = Share().add_all(shares.values())
    curves = _curve(shares, now), _curve(shares_then, begin - WEEK + DAY)
    return Today(currency, in_format(local, "l"), total, so_far, *curves)


def _curve(shares: Mapping[datetime, Share], end: datetime) -> Curve:
    begins = list(shares)
    return Curve(begins[0], list(_sums(shares, [*begins, end])))


def _sums(shares: Mapping[datetime, Share], moments: Sequence[datetime]) -> Iterator[tuple[datetime, int]]:
    total = 0
    yield moments[0], total
    for begin, end in pairwise(moments):
        total += shares[begin].volume
        yield end, total
