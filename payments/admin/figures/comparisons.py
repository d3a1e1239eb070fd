"""Comparisons of a figure with the one before, in words."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

# Above these, a number says less than a word.
MANY_TIMES = 10
TWICE = 2
PERCENT = 100


@dataclass(frozen=True, slots=True)
class Words:
    """How a comparison is said: by so many times, by a percentage more, and by one less."""

    times: Any
    more: Any
    less: Any


OF_COUNT = Words(_("{} as many"), _("{} more"), _("{} fewer"))
OF_AMOUNT = Words(_("{} as much as before"), _("{} more than before"), _("{} less than before"))
OF_CHANGE = Words(_("{} as much"), "+{}", "\N{MINUS SIGN}{}")


def compared(value: int, before: int, words: Words) -> str:
    """Return how `value` differs from the one `before`: in percent, and from twice as much on in times."""
    if not before:
        return ""
    if value == before or not value:
        return gettext("as before") if value else gettext("none now")
    times = value / before
    if times >= TWICE:
        whole = round(times)
        said = gettext("twice") if whole == TWICE else gettext("{count} times").format(count=whole)
        return str(words.times).format(gettext("many times") if times >= MANY_TIMES else said)
    # What is neither equal nor twice as much is not said to be.
    percent = min(max(round(abs(times - 1) * PERCENT), 1), PERCENT - 1)
    return str(words.more if times > 1 else words.less).format(f"{percent}%")


def compared_rates(rate: float | None, before: float | None) -> str:
    """Return how many points `rate` is above or below the one `before`."""
    if rate is None or before is None:
        return ""
    points = round(abs(rate - before) * PERCENT)
    if not points:
        return gettext("as before")
    higher = ngettext("{count} point higher", "{count} points higher", points)
    lower = ngettext("{count} point lower", "{count} points lower", points)
    return (higher if rate > before else lower).format(count=points)
