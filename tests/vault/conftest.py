from collections.abc import Iterator

import pytest

from payments import vault
from payments.domain.maintenance.data_keys import WrappedKeys
from payments.models import CvcKey, DataKey
from tests.vault.stores import MemoryStore


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    """The data keys of this process lie in memory for a test."""
    store = MemoryStore()
    vault.use_store(store)
    yield store
    vault.use_store(WrappedKeys())


@pytest.fixture
def no_keys(transactional_db: None) -> Iterator[None]:
    """No data key is in the database or at hand; those that tests left behind are of other key-encryption keys."""
    for model in (DataKey, CvcKey):
        model.objects.all().delete()
    vault.use_store(WrappedKeys())
    yield
    vault.use_store(WrappedKeys())
