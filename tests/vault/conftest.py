from collections.abc import Iterator

import pytest

from payments import vault
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.models import CvcKey, DataKey
from tests.vault.stores import MemoryStore


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    """Keep the data keys of this process in memory for a test."""
    store = MemoryStore()
    vault.use_store(store)
    yield store
    vault.use_store(DatabaseKeyStore())


@pytest.fixture
def no_keys(transactional_db: None) -> Iterator[None]:
    """Delete all data keys and empty the cache, because earlier tests used other key-encryption keys."""
    for model in (DataKey, CvcKey):
        model.objects.all().delete()
    vault.use_store(DatabaseKeyStore())
    yield
    vault.use_store(DatabaseKeyStore())
