"""Every regular expression of the code base over long texts that are made to mislead it."""

from collections.abc import Iterator

from tests.fuzz.regular_expressions.growth import TooSlow, misleading_texts, seconds_for
from tests.fuzz.regular_expressions.patterns import Use, uses

LIMIT_SECONDS = 10.0
SHOWN = 5


def patterns(characters: int) -> dict[str, object]:
    """Return how many milliseconds of processor time the slowest text takes each pattern, and the slowest patterns."""
    found = {use.pattern.pattern: max(_milliseconds(use, characters)) for use in uses()}
    slowest = sorted(found, key=lambda text: -found[text])
    return {
        "patterns": len(found),
        "characters": characters,
        "over_10_milliseconds": sum(each > 10 for each in found.values()),
        "given_up": sum(each == float("inf") for each in found.values()),
        "slowest": {str(text)[:100]: round(found[text], 1) for text in slowest[:SHOWN]},
    }


def _milliseconds(use: Use, characters: int) -> Iterator[float]:
    for text in misleading_texts(use, characters):
        try:
            yield seconds_for(use, text, LIMIT_SECONDS) * 1000
        except TooSlow:
            yield float("inf")
