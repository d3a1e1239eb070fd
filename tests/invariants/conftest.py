from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from payments.domain.merchants.merchants import create_merchant
from tests.invariants.coverage import WatchedApi, watch
from tests.invariants.history import History


@pytest.fixture(scope="module")
def past(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[History]:
    """Yield a shop with a busy history, made once because it takes long, and rolled back after the module."""
    # A refund that must stay pending must not succeed by itself.
    with django_db_blocker.unblock(), transaction.atomic(), override_settings(SIMULATOR_REFUND_DELAY_SECONDS=3600):
        shop = create_merchant("Sari Store", statement_descriptor="SARI STORE")
        watch()
        yield History(WatchedApi(shop.keys["sk_test"]))
        transaction.set_rollback(True)


@pytest.fixture
def history(past: History, db: None) -> History:
    """Return the shop with its history; changes by the test are rolled back."""
    return past
