"""The database store of data keys, on real commits, because each call has its own transaction."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from payments.db.backend.base import DatabaseWrapper
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.models import CvcKey, DataKey
from payments.vault import Purpose, key_wraps
from payments.vault.data_keys import DataKeys
from tests.concurrency import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_keys")]


@pytest.mark.parametrize("purpose", Purpose)
def test_concurrent_first_uses_create_one_key(purpose: Purpose) -> None:
    keys = at_once(8, lambda _: DataKeys(DatabaseKeyStore()).sealing(purpose)[0])
    assert len(set(keys)) == 1
    assert [*DataKey.objects.all(), *CvcKey.objects.all()] == [
        (CvcKey if purpose is Purpose.CVC else DataKey).objects.get(id=keys[0])
    ]


def test_a_key_survives_a_rollback_of_the_callers_transaction() -> None:
    with transaction.atomic():
        key_id, _ = DataKeys(DatabaseKeyStore()).sealing(Purpose.CARD)
        transaction.set_rollback(True)
    assert DataKey.objects.get().id == key_id


def test_a_key_costs_the_callers_transaction_no_statement(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with transaction.atomic(), django_assert_num_queries(0):
        DataKeys(DatabaseKeyStore()).sealing(Purpose.CARD)


@pytest.fixture
def few_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Limit the connections of this process; yield their number."""
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "CONNECTIONS", 4)
    monkeypatch.setattr(DatabaseWrapper, "_by_process_and_name", {})
    yield 4
    connection.close()
    connection.close_pool()


def test_all_connections_may_need_a_key_at_the_same_time(few_connections: int) -> None:
    all_have_one = Barrier(few_connections)

    def want(_: int) -> UUID:
        connection.ensure_connection()
        all_have_one.wait()
        return DataKeys(DatabaseKeyStore()).sealing(Purpose.CARD)[0]

    assert len(set(at_once(few_connections, want))) == 1


def test_an_ended_thread_leaves_no_connection_in_use(few_connections: int) -> None:
    for _ in range(few_connections + 1):
        with ThreadPoolExecutor(1) as thread:
            thread.submit(DataKeys(DatabaseKeyStore()).sealing, Purpose.CARD).result()


@pytest.mark.parametrize("purpose", Purpose)
def test_a_kept_key_is_found_as_it_was(purpose: Purpose) -> None:
    store, key = DatabaseKeyStore(), key_wraps.new_key(purpose)
    since = key.created_at - timedelta(minutes=1)
    assert store.keep(key, since) == key
    assert (store.find(purpose, key.id), store.newest(purpose, since)) == (key, key)
    assert store.newest(purpose, key.created_at) is None


def test_a_retired_key_opens_and_does_not_seal() -> None:
    store, key = DatabaseKeyStore(), key_wraps.new_key(Purpose.CARD)
    since = key.created_at - timedelta(minutes=1)
    store.keep(key, since)
    DataKey.objects.update(retired_at=timezone.now())
    assert store.find(Purpose.CARD, key.id) == key
    assert store.newest(Purpose.CARD, since) is None


@pytest.mark.parametrize(
    "change",
    [
        "purpose = 'cvc'",
        "emptied_at = now()",
        "destroyed_at = now(), wrapped = ''",
        "retired_at = now(), emptied_at = now(), destroyed_at = now()",
        "wrapped = ''",
    ],
)
def test_no_key_is_half_destroyed(change: str) -> None:
    DataKeys(DatabaseKeyStore()).sealing(Purpose.CARD)
    with pytest.raises(IntegrityError), connection.cursor() as cursor:
        cursor.execute(f"UPDATE payments_datakey SET {change}")
