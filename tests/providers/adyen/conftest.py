"""Adyen's connector before its fake."""

from collections.abc import Iterator

import pytest

from tests.providers.adyen.bench import AdyenBench, adyen_bench


@pytest.fixture
def bench() -> Iterator[AdyenBench]:
    """The connector and the fake that it asks."""
    with adyen_bench() as made:
        yield made
