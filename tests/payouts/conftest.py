import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api
from tests.ledger.books import charge_fees


@pytest.fixture
def fees(shop: NewMerchant) -> None:
    """Set the shop's fee for card charges in pesos: 3.5 % and 15 centavos."""
    charge_fees(shop.merchant)


@pytest.fixture
def other_api(other_shop: NewMerchant) -> Api:
    """Return the API with another merchant's secret test key."""
    return Api(other_shop.keys["sk_test"])


@pytest.fixture
def live_api(shop: NewMerchant) -> Api:
    """Return the API with the shop's secret live key."""
    return Api(shop.keys["sk_live"])
