"""The API with other keys than the shop's secret test key."""

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api


@pytest.fixture
def browser(shop: NewMerchant) -> Api:
    """Return the API with the shop's publishable test key."""
    return Api(shop.keys["pk_test"])
