"""Adyen's connector before its fake."""

from collections.abc import Iterator

import pytest

from tests.providers.adyen.bench import AdyenBench, adyen_bench


@pytest.fixture
def bench() -> Iterator[AdyenBench]:
    """Yield the connector and the fake that it calls."""
    with adyen_bench() as made:
        yield made
