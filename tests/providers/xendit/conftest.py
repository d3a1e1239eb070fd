"""Xendit's connector before its fake."""

from collections.abc import Iterator

import pytest

from tests.providers.xendit.bench import XenditBench, xendit_bench


@pytest.fixture
def bench() -> Iterator[XenditBench]:
    """Yield a new account at its own fake."""
    with xendit_bench() as made:
        yield made
