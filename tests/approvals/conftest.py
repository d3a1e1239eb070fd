from collections.abc import Iterator

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.models import ProviderAccount
from tests.admin.conftest import ana, ben  # noqa: F401  two administrators, signed in
from tests.routing.doubles import Psp, account_at, installed


@pytest.fixture(autouse=True)
def north() -> Iterator[Psp]:
    with installed(Psp("north")) as psp:
        yield psp


@pytest.fixture
def account(north: Psp, shop: NewMerchant) -> ProviderAccount:
    """Return a live account of the shop."""
    return account_at(north, shop.merchant)
