from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from payments.domain.merchants.merchants import create_merchant
from tests.client import Api
from tests.invariants.history import History


@pytest.fixture(scope="module")
def past(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[History]:
    """A shop to which everything has happened: once, for it takes long, and undone with the module's transaction."""
    # A refund that is to be pending at the end must not come to its own by itself.
    with (
        django_db_blocker.unblock(),
        transaction.atomic(),
        override_settings(SIMULATOR_REFUND_DELAY_SECONDS=3600),
    ):
        shop = create_merchant("Sari Store", statement_descriptor="SARI STORE")
        yield History(Api(shop.keys["sk_test"]))
        transaction.set_rollback(True)


@pytest.fixture
def history(past: History, db: None) -> History:
    """The shop as the past left it; what the test does to it is undone."""
    return past
