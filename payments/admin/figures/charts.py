"""A chart of charges by time, as numbers that a template writes into an SVG without scripts or inline styles.

Across, places are in percent of the width, so that text has one size at every width. Down they are in pixels.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from payments.models.charging.shown_states import DECLINED, LEFT
from payments.overview.trade import Outcome, Share

# The panel of the rate, and the one of the numbers, each from its top to its bottom.
RATE_TOP, RATE_BOTTOM = 22, 72
TOP, BOTTOM = 112, 262
# So high is a bar that is broken off; it breaks so far below the end of its longest part, and each part is seen.
BROKEN_TOP = 106
BREAK_BELOW, PART_LEAST = 10, 3
# The share of a place that its bar takes, and the most that a bar takes of the chart in percent.
BAR_SHARE, BAR_MOST = 0.66, 6.0
LABELS_COUNT = 7
STEPS_COUNT = 5
# So much larger than the next ones, a place would flatten them; among fewer places, each is seen.
OUTLIER = 1.8
PLACES_FEW = 5
# Words beside a bar take so much of the chart in percent.
WORDS_WIDTH = 30.0
THOUSAND = 1000
WHOLE = 100.0


@dataclass(frozen=True, slots=True)
class Meaning:
    """An outcome as the pages show it: its name, and the name of its colour."""

    label: Any
    mark: str


OUTCOMES: Mapping[str, Meaning] = {
    Outcome.APPROVED: Meaning(_("Approved"), "good"),
    Outcome.DECLINED: Meaning(DECLINED.title, DECLINED.mark),
    Outcome.ABANDONED: Meaning(LEFT.title, LEFT.mark),
}
# In this order they stand on each other.
STACKED: Sequence[str] = (Outcome.APPROVED, Outcome.ABANDONED, Outcome.DECLINED)


@dataclass(frozen=True, slots=True)
class Bar:
    """One outcome of one place."""

    y: float
    height: float
    mark: str


@dataclass(frozen=True, slots=True)
class Place:
    """A day or an hour, with its numbers in words, and a label below it ("" for none)."""

    left: float
    bar_left: float
    middle: float
    title: str
    label: str
    bars: Sequence[Bar]
    # Where its longest part is broken off; None where it is shown whole.
    broken_y: float | None


@dataclass(frozen=True, slots=True)
class BarLabel:
    """What a bar that is broken off has, beside the break."""

    x: float
    y: float
    dx: int
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """An event on a chart, `x` percent from its left edge, with the address of its page."""

    x: float
    title: str
    address: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Places with their bars, the lines of the axes with their texts, and the line of the rate with its single dots."""

    lines: Sequence[tuple[float, str]]
    places: Sequence[Place]
    words: Sequence[BarLabel]
    rate: Sequence[tuple[float, float, float, float]]
    dots: Sequence[tuple[float, float]]
    marks: Sequence[Mark]
    step: float
    bar_width: float


@dataclass(frozen=True, slots=True)
class Axis:
    """What the places of a chart are called: as a column, in a title, below a bar, and the last of them."""

    heading: Any
    long: Callable[[Any], str]
    short: Callable[[Any], str]
    last: Any


def chart_of(shares: Mapping[Any, Share], axis: Axis, shown: Callable[[Share], str], marks: Sequence[Mark]) -> Chart:
    """Return the chart of `shares` by day or hour; `shown` says the numbers of one in words."""
    totals = [ended(share) for share in shares.values()]
    ticks = round_numbers(usual_most(totals))
    step = WHOLE / len(totals)
    rates = _rates([share.approval_rate for share in shares.values()], step)
    places = list(_places(shares, axis, shown, ticks[-1]))
    return Chart(
        lines=[*((_rate_y(rate), f"{rate:.0%}"[:-1]) for rate in (0, 0.5, 1)), *tick_lines(ticks)],
        places=places,
        words=list(_words(list(shares.values()), places)),
        rate=[(*first, *second) for first, second in pairwise(rates) if first and second],
        dots=list(_dots(rates)),
        marks=marks,
        step=round(step, 3),
        bar_width=round(_bar_width(step), 3),
    )


def ended(share: Share) -> int:
    """Return the number of charges that ended."""
    return sum(share.counts[outcome] for outcome in OUTCOMES)


def round_numbers(most: int) -> list[int]:
    """Return a few round numbers at the same distance, from 0 to `most` or more."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if step * STEPS_COUNT >= most:
                return list(range(0, most + step, step))
        power *= 10


def usual_most(totals: Sequence[int]) -> int:
    """Return the largest of `totals` that does not flatten the others: of many at most a tenth do."""
    found = sorted(filter(None, totals), reverse=True)
    usual = max(found, default=1)
    if len(found) >= PLACES_FEW:
        for larger, next_one in pairwise(found[: max(len(found) // 10, 1) + 1]):
            usual = next_one if larger > OUTLIER * next_one else usual
    return usual


def tick_lines(ticks: Sequence[int]) -> Iterator[tuple[float, str]]:
    """Yield how far down the line of each of `ticks` is, and its number in few digits."""
    in_thousands = ticks[-1] >= 10 * THOUSAND and ticks[1] % THOUSAND == 0
    for tick in ticks:
        text = f"{tick // THOUSAND:,}k" if in_thousands and tick else f"{tick:,}"
        yield round(BOTTOM - (BOTTOM - TOP) * tick / ticks[-1], 2), text


def _places(shares: Mapping[Any, Share], axis: Axis, shown: Callable[[Share], str], top: int) -> Iterator[Place]:
    last, step = len(shares) - 1, WHOLE / len(shares)
    every = -(-len(shares) // LABELS_COUNT)
    for number, (moment, share) in enumerate(shares.items()):
        middle = (number + 0.5) * step
        bars = list(_bars(share, top))
        yield Place(
            left=round(number * step, 3),
            bar_left=round(middle - _bar_width(step) / 2, 3),
            middle=round(middle, 3),
            title=f"{axis.long(moment)}: {shown(share)}",
            label="" if (last - number) % every else axis.last if number == last else axis.short(moment),
            bars=bars,
            broken_y=_broken_y(bars, share) if ended(share) > top else None,
        )


def _bar_width(step: float) -> float:
    return min(step * BAR_SHARE, BAR_MOST)


def _bars(share: Share, top: int) -> Iterator[Bar]:
    """Yield the outcomes upon each other, always in the same order; the longest of a broken bar has what is left."""
    scale = (BOTTOM - TOP) / top
    heights = {outcome: share.counts[outcome] * scale for outcome in STACKED}
    if ended(share) > top:
        longest, room = _longest(share), BOTTOM - BROKEN_TOP
        others = {outcome: height for outcome, height in heights.items() if height and outcome != longest}
        # The others keep the scale as long as the longest stays so; then all parts shrink alike.
        keep_scale = room - sum(others.values()) >= max(others.values(), default=0)
        shrunk = 1 if keep_scale else room / sum(heights.values())
        heights |= {outcome: max(height * shrunk, PART_LEAST) for outcome, height in others.items()}
        heights[longest] = room - sum(heights[outcome] for outcome in others)
    y = float(BOTTOM)
    for outcome, height in heights.items():
        upper = max(round(y - height, 2), BROKEN_TOP)
        if upper < y:
            # A pixel between them keeps two outcomes apart.
            gap = 1 if y < BOTTOM and y - upper > 1 else 0
            yield Bar(upper, round(y - upper - gap, 2), OUTCOMES[outcome].mark)
        y = upper


def _broken_y(bars: Sequence[Bar], share: Share) -> float:
    mark = OUTCOMES[_longest(share)].mark
    return next(round(bar.y + BREAK_BELOW, 2) for bar in bars if bar.mark == mark)


def _words(shares: Sequence[Share], places: Sequence[Place]) -> Iterator[BarLabel]:
    """Yield the words of the bars that are broken off, the largest first, as far as there is room."""
    step, found = WHOLE / len(shares), list[int]()
    for number in sorted(range(len(shares)), key=lambda number: ended(shares[number]), reverse=True):
        y = places[number].broken_y
        if y is None or any(abs(number - each) * step < WORDS_WIDTH for each in found):
            continue
        found.append(number)
        middle, half = (number + 0.5) * step, _bar_width(step) / 2
        before = middle > WHOLE / 2
        x, dx, anchor = (middle - half, -6, "end") if before else (middle + half, 6, "start")
        yield BarLabel(round(x, 3), y, dx, anchor, _most_of(shares[number]))


def _longest(share: Share) -> str:
    return max(STACKED, key=share.counts.__getitem__)


def _most_of(share: Share) -> str:
    outcome = _longest(share)
    count = share.counts[outcome]
    is_most = 2 * count > ended(share)
    if is_most:
        return f"{count:,} {OUTCOMES[outcome].label.lower()}"
    return ngettext("{count} charge", "{count} charges", ended(share)).format(count=f"{ended(share):,}")


def _rate_y(rate: float) -> float:
    return round(RATE_BOTTOM - (RATE_BOTTOM - RATE_TOP) * rate, 2)


def _rates(rates: Sequence[float | None], step: float) -> list[tuple[float, float] | None]:
    """Return the point of each rate; where no charge ended, the line has a gap."""
    return [
        None if rate is None else (round((number + 0.5) * step, 3), _rate_y(rate)) for number, rate in enumerate(rates)
    ]


def _dots(points: Sequence[tuple[float, float] | None]) -> Iterator[tuple[float, float]]:
    """Yield the last point, and those that have no other beside them."""
    last = next(filter(None, reversed(points)), None)
    for before, point, after in zip([None, *points], points, [*points[1:], None], strict=False):
        if point and (point == last or not (before or after)):
            yield point
