"""One cast for all tests of a module: each test is undone, so that none has to make everything anew."""

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from payments.domain.merchants.merchants import NewMerchant, create_merchant
from tests.client import Api
from tests.contract.scopes.routes import Things, nobodys_things, things_of
from tests.undone import undone


@pytest.fixture(scope="module")
def module_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock(), undone():
        yield


@pytest.fixture(autouse=True)
def _test_is_undone(shop: NewMerchant, other_shop: NewMerchant, db: None) -> None:
    """Have each test run in a transaction of its own within that of the module."""


@pytest.fixture(scope="module")
def shop(module_database: None) -> NewMerchant:
    """Return a merchant with keys in both modes."""
    return create_merchant("Sari Store", statement_descriptor="SARI STORE")


@pytest.fixture(scope="module")
def other_shop(module_database: None) -> NewMerchant:
    """Return another merchant, who must not see objects of the first."""
    return create_merchant("Other Store")


@pytest.fixture(scope="module")
def things(shop: NewMerchant) -> Things:
    """Return one of everything of the shop."""
    return things_of(Api(shop.keys["sk_test"]))


@pytest.fixture(scope="module")
def nobodys(things: Things) -> Things:
    """Return IDs of the same kinds that nobody has."""
    return nobodys_things(things)
