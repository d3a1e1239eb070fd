"""Xendit's connector before its fake."""

from collections.abc import Iterator

import pytest

from tests.providers.xendit.bench import XenditBench, xendit_bench


@pytest.fixture
def bench() -> Iterator[XenditBench]:
    """A new account at a fake of its own."""
    with xendit_bench() as made:
        yield made
