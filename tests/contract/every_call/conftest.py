"""What every call is about, made once for all tests of this folder."""

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api
from tests.contract.calls import CALLS, Requests
from tests.contract.shared_cast import _test_is_undone, other_shop, shared_database, shop

__all__ = ["_test_is_undone", "other_shop", "shared_database", "shop"]


@pytest.fixture(scope="package")
def asked(shop: NewMerchant) -> Requests:
    """Return a path and a body by which each call succeeds."""
    api = Api(shop.keys["sk_test"])
    return {call: call.prepare(api) for call in CALLS.values()}
