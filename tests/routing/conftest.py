from collections.abc import Iterator

import pytest
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api
from tests.routing.doubles import Psp, installed


@pytest.fixture
def north() -> Iterator[Psp]:
    with installed(Psp("north")) as psp:
        yield psp


@pytest.fixture
def south() -> Iterator[Psp]:
    with installed(Psp("south")) as psp:
        yield psp


@pytest.fixture
def live(shop: NewMerchant, settings: Settings) -> Api:
    """Return the API with the shop's secret live key, where live cards are enabled."""
    settings.LIVE_CARDS_ATTESTED = True
    return Api(shop.keys["sk_live"])
