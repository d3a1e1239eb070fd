"""The providers that the shared contract suite is run against: one line each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from tests.providers.adyen.bench import adyen_bench
from tests.providers.bench import Bench
from tests.providers.simulator.bench import simulator_bench
from tests.providers.xendit.bench import xendit_bench

# Those of real providers are behind a fake on a socket of this machine, whose answers can be spoilt in every way.
OVER_THE_WIRE: dict[str, Callable[[], AbstractContextManager[Bench]]] = {"adyen": adyen_bench, "xendit": xendit_bench}
BENCHES: dict[str, Callable[[], AbstractContextManager[Bench]]] = {"simulator": simulator_bench, **OVER_THE_WIRE}


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest, db: None) -> Iterator[Bench]:
    """Each provider in turn."""
    with BENCHES[request.param]() as made:
        yield made


@pytest.fixture(params=["simulator", "xendit"])
def listing_bench(request: pytest.FixtureRequest, db: None) -> Iterator[Bench]:
    """Each provider that lists what it did."""
    with BENCHES[request.param]() as made:
        yield made


@pytest.fixture(params=OVER_THE_WIRE)
def wire_bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Each provider that is reached over a network."""
    with OVER_THE_WIRE[request.param]() as made:
        yield made
