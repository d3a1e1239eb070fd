"""Texts made to mislead a pattern, and how long it takes over them.

A pattern is misled where a stretch of text can be matched in many ways before the whole fails. So a text that it
matches is taken, a bit of it is repeated without end, and what would complete the match is left out.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from tests.fuzz.regular_expressions.patterns import ANCHORED, Use

SAMPLES = 3
CUTS = 4
LONGEST_SAMPLE = 80
# What patterns like to take in several ways; a NUL ends most matches.
FILLINGS = (" ", "\t", "0", "a", '"', "-", ".")
END = "\x00"


class TooSlow(Exception):
    """A text took a pattern longer than it may."""


def misleading_texts(use: Use, length: int) -> Iterator[Any]:
    """Texts of about `length` characters, if the pattern is given such; bytes where it takes those."""
    length = min(length, use.longest)
    is_bytes = isinstance(use.pattern.pattern, bytes)
    # Samples are often alike, and the empty text is cut four times at the same place.
    for beginning, filling in dict.fromkeys(_recipes(use, Random(0))):
        text = beginning + filling * (length // len(filling)) + END
        yield text.encode("latin-1", "replace") if is_bytes else text


def seconds_for(use: Use, text: Any, limit_seconds: float) -> float:
    """Processor time that the pattern takes over `text`. Raises TooSlow after `limit_seconds` of it."""
    apply = _application(use)
    with _limit(limit_seconds):
        started = time.process_time()
        apply(text)
        return time.process_time() - started


def _application(use: Use) -> Callable[[Any], Any]:
    """Return the slowest use of the pattern."""
    if use.anchored:
        return use.pattern.fullmatch
    if use.methods <= ANCHORED | {"search"}:
        return use.pattern.search
    return lambda text: sum(1 for _ in use.pattern.finditer(text))


def _recipes(use: Use, random: Random) -> Iterator[tuple[str, str]]:
    """Yield the beginning of a text, and the part to repeat after it."""
    for sample in ["", *_samples(use)]:
        text = sample.decode("latin-1") if isinstance(sample, bytes) else sample
        if text:
            yield "", text
        for _ in range(CUTS):
            at = random.randint(0, len(text))
            yield from ((text[:at], filling) for filling in {*FILLINGS, text[at : at + 1], text[at : at + 2]} - {""})


def _samples(use: Use) -> list[Any]:
    """Return a few texts that the pattern matches, the same at every run."""
    found: list[Any] = []

    @hypothesis.settings(
        max_examples=SAMPLES,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.from_regex(use.pattern))
    def keep(sample: Any) -> None:
        found.append(sample[:LONGEST_SAMPLE])

    keep()
    return found


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Count the time of this process alone, so that a busy machine is no reason to fail."""
    before = signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _give_up(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlow
