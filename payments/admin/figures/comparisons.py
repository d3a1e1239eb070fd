"""Comparisons of a figure with the one before, in words."""

from dataclasses import dataclass

# Above these, a number says less than a word.
MANY_TIMES = 10
TWICE = 2
PERCENT = 100


@dataclass(frozen=True, slots=True)
class Words:
    """How a comparison is said: by so many times, by a percentage more, and by one less."""

    times: str
    more: str
    less: str


OF_COUNT = Words("{} as many", "{} more", "{} fewer")
OF_AMOUNT = Words("{} as much as before", "{} more than before", "{} less than before")
OF_CHANGE = Words("{} as much", "+{}", "\N{MINUS SIGN}{}")


def compared(value: int, before: int, words: Words) -> str:
    """Return how `value` differs from the one `before`: in percent, and from twice as much on in times."""
    if not before:
        return ""
    if value == before or not value:
        return "as before" if value else "none now"
    times = value / before
    if times >= TWICE:
        whole = round(times)
        said = "many times" if times >= MANY_TIMES else "twice" if whole == TWICE else f"{whole} times"
        return words.times.format(said)
    # What is neither equal nor twice as much is not said to be.
    percent = min(max(round(abs(times - 1) * PERCENT), 1), PERCENT - 1)
    return (words.more if times > 1 else words.less).format(f"{percent}%")


def compared_rates(rate: float | None, before: float | None) -> str:
    """Return how many points `rate` is above or below the one `before`."""
    if rate is None or before is None:
        return ""
    points = round(abs(rate - before) * PERCENT)
    direction = "higher" if rate > before else "lower"
    return f"{points} point{'' if points == 1 else 's'} {direction}" if points else "as before"
