"""Only where PRISM names the program, as in `.ci/run`: it comes from npm, which the suite itself does without."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from payments.providers.adyen.connector import Adyen
from payments.providers.xendit.client import XenditClient
from payments.providers.xendit.connector import Xendit
from tests.providers.adyen.bench import ACCOUNT, adyen_bench
from tests.providers.bench import Bench
from tests.providers.prism.proxy import prism_before
from tests.providers.xendit.bench import xendit_bench

ADYEN = "adyen-CheckoutService-v72.json"
XENDIT = "xendit-payments-v3-subset.openapi.json"
collect_ignore_glob = [] if "PRISM" in os.environ else ["test_*.py"]


@contextmanager
def adyen_behind_prism() -> Iterator[Bench]:
    """Adyen's connector, Prism, and Adyen's fake; nothing between them was other than described."""
    with adyen_bench() as bench, prism_before(bench.fake.address, ADYEN) as prism:
        bench.connector = Adyen(ACCOUNT, prism.url)
        yield bench
        assert prism.complaints() == []


@contextmanager
def xendit_behind_prism() -> Iterator[Bench]:
    """Yield the same bench with Xendit's description."""
    with xendit_bench() as bench, prism_before(bench.fake.address, XENDIT) as prism:
        bench.connector = Xendit(XenditClient(prism.url, bench.secret_key), bench.callback_token)
        yield bench
        assert prism.complaints() == []


@pytest.fixture(scope="session")
def adyen() -> Iterator[Bench]:
    """Yield one fake and one Prism for all of Adyen's scenarios."""
    with adyen_behind_prism() as made:
        yield made


@pytest.fixture(scope="session")
def xendit() -> Iterator[Bench]:
    """Yield one fake and one Prism for all of Xendit's scenarios."""
    with xendit_behind_prism() as made:
        yield made


@pytest.fixture(params=["adyen", "xendit"], scope="session")
def bench(request: pytest.FixtureRequest) -> Bench:
    """Each provider in turn."""
    made: Bench = request.getfixturevalue(request.param)
    return made


@pytest.fixture(scope="session")
def listing_bench(xendit: Bench) -> Bench:
    """Return the only one of them that lists what it did."""
    return xendit
