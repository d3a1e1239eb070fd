"""One of everything, for all tests of this folder."""

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api
from tests.contract.scopes.routes import Things, nobodys_things, things_of
from tests.contract.shared_cast import _test_is_undone, other_shop, shared_database, shop

__all__ = ["_test_is_undone", "other_shop", "shared_database", "shop"]


@pytest.fixture(scope="package")
def things(shop: NewMerchant) -> Things:
    """Return one of everything of the shop."""
    return things_of(Api(shop.keys["sk_test"]))


@pytest.fixture(scope="package")
def nobodys(things: Things) -> Things:
    """Return IDs of the same kinds that nobody has."""
    return nobodys_things(things)
