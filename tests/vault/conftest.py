from collections.abc import Iterator

import pytest

from payments import vault
from payments.domain.data_keys import WrappedKeys
from tests.vault.stores import MemoryStore


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    """The data keys of this process lie in memory for a test."""
    store = MemoryStore()
    vault.use_store(store)
    yield store
    vault.use_store(WrappedKeys())
