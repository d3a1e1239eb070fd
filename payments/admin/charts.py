"""Stacked bar charts as numbers that a template writes into an SVG, without scripts or inline styles."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 720, 180
# The share of a day's place that its bar takes.
BAR_SHARE = 0.8
LABELS_COUNT = 7
# The largest series have a colour each, all others one together.
SERIES_COUNT = 6
OTHER = "Other"


@dataclass(frozen=True, slots=True)
class Bar:
    """One series of one day, from its upper left corner; the style sheet colours `series`, counted from 1."""

    x: float
    y: float
    width: float
    height: float
    series: int
    title: str


@dataclass(frozen=True, slots=True)
class Mark:
    """An event on a chart, `x` from its left edge, with the address of its page."""

    x: float
    title: str
    address: str


@dataclass(frozen=True)
class Chart:
    """A chart with a `name` unique on its page; `rows` has the same values as a table."""

    name: str
    title: str
    top: str
    legend: Sequence[tuple[int, str]]
    bars: Sequence[Bar]
    labels: Sequence[tuple[float, str]]
    rows: Sequence[tuple[str, Sequence[str]]]
    heading: str
    width: int = WIDTH
    height: int = HEIGHT
    marks: Sequence[Mark] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """What the places of a chart are called: in the heading of its table, in a row, and below a bar."""

    heading: str
    long: Callable[[Any], str]
    short: Callable[[Any], str]


BY_DAY = Axis("Day", "{:%d %b %Y}".format, "{:%d %b}".format)
# The days, or the moments at which hours begin.
Stacks = Mapping[Any, Mapping[str, int]]
# The tooltip of a place, a series and its value.
Tooltip = Callable[[Any, str, int], str]


def series_of(stacks: Stacks) -> list[str]:
    """Return the series of `stacks`, largest first; charts that share them have the same colours."""
    sums = Counter[str]()
    for stack in stacks.values():
        sums.update(stack)
    largest = [each for each, _ in sums.most_common(SERIES_COUNT)]
    return largest if len(sums) <= SERIES_COUNT else [*largest, OTHER]


def stacked_bars(
    name: str,
    title: str,
    stacks: Stacks,
    series: Sequence[str],
    label_of: Callable[[str], str],
    text_of: Callable[[int], str],
    axis: Axis = BY_DAY,
) -> Chart:
    """Return the chart of `stacks` by `series`; `label_of` names a series and `text_of` formats a value."""
    days = {day: Counter[str]() for day in stacks}
    for day, stack in stacks.items():
        for each, value in stack.items():
            days[day][each if each in series else OTHER] += value
    most = max((sum(stack.values()) for stack in days.values()), default=0)
    labels = {each: OTHER if each == OTHER else label_of(each) for each in series}

    def tooltip(day: Any, each: str, value: int) -> str:
        return f"{axis.long(day)}, {labels[each]}: {text_of(value)}"

    return Chart(
        name=name,
        title=title,
        top=text_of(most),
        legend=list(enumerate(labels.values(), 1)),
        bars=list(_bars(days, series, most, tooltip)),
        labels=list(_labels(list(days), axis)),
        rows=[(axis.long(day), [text_of(stack[each]) for each in series]) for day, stack in days.items()],
        heading=axis.heading,
    )


def _bars(days: Mapping[Any, Counter[str]], series: Sequence[str], most: int, tooltip: Tooltip) -> Iterator[Bar]:
    step = WIDTH / len(days)
    for place, (day, stack) in enumerate(days.items()):
        y = float(HEIGHT)
        for number, each in enumerate(series, 1):
            if value := stack[each]:
                height = HEIGHT * value / most
                y -= height
                x, width = round(place * step, 2), round(step * BAR_SHARE, 2)
                yield Bar(x, round(y, 2), width, round(height, 2), number, tooltip(day, each, value))


def _labels(days: Sequence[Any], axis: Axis) -> Iterator[tuple[float, str]]:
    step = WIDTH / len(days)
    every = -(-len(days) // LABELS_COUNT)
    for place in range(0, len(days), every):
        yield round(place * step, 2), axis.short(days[place])
