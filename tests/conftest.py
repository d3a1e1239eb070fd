"""The cast of most tests: a shop and its keys, and the API as a merchant's program sees it."""

import pytest

from payments.domain.merchants import NewMerchant, create_merchant
from tests.client import Api


@pytest.fixture
def shop(db: None) -> NewMerchant:
    """A merchant with keys in both modes."""
    return create_merchant("Sari Store", statement_descriptor="SARI STORE")


@pytest.fixture
def other_shop(db: None) -> NewMerchant:
    """Somebody else, who must see nothing of the first one's."""
    return create_merchant("Other Store")


@pytest.fixture
def api(shop: NewMerchant) -> Api:
    """The API with the shop's secret test key."""
    return Api(shop.keys["sk_test"])
