"""The database tables of the vault's wrapped data keys."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from payments.models import CvcKey, DataKey
from payments.vault import Purpose, WrappedKey

KeyRows = QuerySet[DataKey] | QuerySet[CvcKey]
Result = TypeVar("Result")


class DatabaseKeyStore:
    """The vault's store of data keys. Each method is a transaction of its own.

    So a key is committed before anything is sealed with it, even if the caller's transaction is rolled back.
    """

    def newest(self, purpose: Purpose, since: datetime) -> WrappedKey | None:
        return _outside_transaction(lambda: _newest(purpose, since))

    def find(self, purpose: Purpose, key_id: UUID) -> WrappedKey | None:
        return _outside_transaction(lambda: _first(usable_keys(purpose).filter(id=key_id)))

    def keep(self, key: WrappedKey, since: datetime) -> WrappedKey:
        return _outside_transaction(lambda: _keep(key, since))


def usable_keys(purpose: Purpose) -> KeyRows:
    """Return the keys of `purpose` that are not destroyed."""
    if purpose is Purpose.CVC:
        return CvcKey.objects.all()
    return DataKey.objects.filter(purpose=purpose, destroyed_at__isnull=True)


def all_wrapped_keys() -> list[WrappedKey]:
    """Return every key that is not destroyed."""
    return [_wrapped(row) for purpose in Purpose for row in usable_keys(purpose)]


def _wrapped(row: DataKey | CvcKey) -> WrappedKey:
    purpose = Purpose(row.purpose) if isinstance(row, DataKey) else Purpose.CVC
    return WrappedKey(row.id, purpose, row.kek, bytes(row.wrapped), row.created_at)


def _newest(purpose: Purpose, since: datetime) -> WrappedKey | None:
    in_use = {} if purpose is Purpose.CVC else {"retired_at": None}
    return _first(usable_keys(purpose).filter(created_at__gt=since, **in_use).order_by("-created_at"))


def _first(rows: KeyRows) -> WrappedKey | None:
    row = rows.first()
    return _wrapped(row) if row else None


@transaction.atomic
def _keep(key: WrappedKey, since: datetime) -> WrappedKey:
    values = {"id": key.id, "kek": key.kek, "wrapped": key.wrapped, "created_at": key.created_at}
    row = CvcKey(**values) if key.purpose is Purpose.CVC else DataKey(purpose=key.purpose, **values)
    with connection.cursor() as cursor:
        # Where several processes find no key at the same time, the first stores its own and the others then find it.
        cursor.execute(f"LOCK TABLE {row._meta.db_table} IN SHARE ROW EXCLUSIVE MODE")
    first = _newest(key.purpose, since)
    if first is None:
        row.save(force_insert=True)
    return first or key


def _outside_transaction(call: Callable[[], Result]) -> Result:
    """Return the result of `call` outside the caller's transaction: in a thread with its own connection if need be.

    Only inside a transaction, because a pool whose users all wait for a second connection would never free one.
    """
    if connection.in_atomic_block:
        with ThreadPoolExecutor(1, "kaha-data-keys") as thread:
            return thread.submit(_call_and_close, call).result()
    return call() if connection.connection else _call_and_close(call)


def _call_and_close(call: Callable[[], Result]) -> Result:
    """Return the result of `call`, and then release the connection, which an ending thread would not do."""
    try:
        return call()
    finally:
        connection.close()
