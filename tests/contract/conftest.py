"""The API with other keys than the shop's secret test key."""

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api


@pytest.fixture
def other_api(other_shop: NewMerchant) -> Api:
    """Return the API with another merchant's secret test key."""
    return Api(other_shop.keys["sk_test"])


@pytest.fixture
def live_api(shop: NewMerchant) -> Api:
    """Return the API with the shop's secret live key."""
    return Api(shop.keys["sk_live"])


@pytest.fixture
def browser(shop: NewMerchant) -> Api:
    """Return the API with the shop's publishable test key."""
    return Api(shop.keys["pk_test"])
