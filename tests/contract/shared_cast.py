"""One cast for all tests of a folder: each test is undone, so that none has to make everything anew."""

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from payments.domain.merchants.merchants import NewMerchant, create_merchant
from tests.undone import undone

__all__ = ["_test_is_undone", "other_shop", "shared_database", "shop"]


@pytest.fixture(scope="package")
def shared_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock(), undone():
        yield


@pytest.fixture(autouse=True)
def _test_is_undone(shop: NewMerchant, other_shop: NewMerchant, db: None) -> None:
    """Have each test run in a transaction of its own within that of the folder."""


@pytest.fixture(scope="package")
def shop(shared_database: None) -> NewMerchant:
    """Return a merchant with keys in both modes."""
    return create_merchant("Sari Store", statement_descriptor="SARI STORE")


@pytest.fixture(scope="package")
def other_shop(shared_database: None) -> NewMerchant:
    """Return another merchant, who must not see objects of the first."""
    return create_merchant("Other Store")
