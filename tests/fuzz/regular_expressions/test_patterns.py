"""No text takes a regular expression longer than its length accounts for."""

import re

import pytest

from payments.api.validation.fields import MONTH
from payments.domain.merchants.merchants import check_statement_descriptor
from payments.names import PLAIN_TEXT
from payments.webhooks.transport.connections import CONTENT_TO_COME
from payments.webhooks.transport.urls import URL
from tests.fuzz.regular_expressions.growth import TooSlow, misleading_texts, seconds_for
from tests.fuzz.regular_expressions.patterns import Use, uses

LENGTH = 40_000
# Of processor time. Steps that grow with the length take some milliseconds; with its square, twenty times as long.
LIMIT_SECONDS = 1.0
# The search for the patterns takes seconds: each worker does it once, and only where it runs one of these tests.
SHARES = 8


def slow_texts(use: Use) -> list[str]:
    """Return the beginnings of texts that take too long."""
    return [repr(text[:40]) for text in misleading_texts(use, LENGTH) if is_slow(use, text)]


def is_slow(use: Use, text: str) -> bool:
    try:
        seconds_for(use, text, LIMIT_SECONDS)
    except TooSlow:
        return True
    return False


@pytest.mark.long
def test_all_patterns_are_found() -> None:
    texts = {use.pattern.pattern for use in uses()}
    assert {PLAIN_TEXT, MONTH, URL.pattern, CONTENT_TO_COME.pattern, check_statement_descriptor.regex.pattern} <= texts
    assert len(texts) > 60


@pytest.mark.long
@pytest.mark.parametrize("share", range(SHARES))
def test_no_pattern_is_misled(share: int) -> None:
    misled = {use.pattern.pattern: slow_texts(use) for use in uses()[share::SHARES]}
    assert {pattern: texts for pattern, texts in misled.items() if texts} == {}


@pytest.mark.long
@pytest.mark.parametrize("pattern", [r"(a+)+b", r"\s*\s*=", r"(?:cvc\s*)[,\s]\s*[0-9]", r"(?:[0-9]|[0-9][0-9])*x"])
def test_a_pattern_that_can_be_misled_is_found(pattern: str) -> None:
    assert any(
        is_slow(use, text)
        for use in [Use(re.compile(pattern), frozenset(["fullmatch"]))]
        for text in misleading_texts(use, LENGTH)
    )
