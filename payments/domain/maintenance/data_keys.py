"""Where the vault's wrapped data keys lie."""

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


class WrappedKeys:
    """The vault's store of data keys. Each of its verbs is a transaction of its own.

    So a key is on record before anything is sealed with it, whatever becomes of the caller's transaction.
    """

    def newest(self, purpose: Purpose, since: datetime) -> WrappedKey | None:
        return _apart(lambda: _newest(purpose, since))

    def find(self, purpose: Purpose, key_id: UUID) -> WrappedKey | None:
        return _apart(lambda: _first(kept(purpose).filter(id=key_id)))

    def keep(self, key: WrappedKey, since: datetime) -> WrappedKey:
        return _apart(lambda: _keep(key, since))


def kept(purpose: Purpose) -> KeyRows:
    """The keys of `purpose` that are not destroyed."""
    if purpose is Purpose.CVC:
        return CvcKey.objects.all()
    return DataKey.objects.filter(purpose=purpose, destroyed_at__isnull=True)


def all_kept() -> list[WrappedKey]:
    """Every key that is not destroyed."""
    return [_wrapped(row) for purpose in Purpose for row in kept(purpose)]


def _wrapped(row: DataKey | CvcKey) -> WrappedKey:
    purpose = Purpose(row.purpose) if isinstance(row, DataKey) else Purpose.CVC
    return WrappedKey(row.id, purpose, row.kek, bytes(row.wrapped), row.created_at)


def _newest(purpose: Purpose, since: datetime) -> WrappedKey | None:
    in_use = {} if purpose is Purpose.CVC else {"retired_at": None}
    return _first(kept(purpose).filter(created_at__gt=since, **in_use).order_by("-created_at"))


def _first(rows: KeyRows) -> WrappedKey | None:
    row = rows.first()
    return _wrapped(row) if row else None


@transaction.atomic
def _keep(key: WrappedKey, since: datetime) -> WrappedKey:
    values = {"id": key.id, "kek": key.kek, "wrapped": key.wrapped, "created_at": key.created_at}
    row = CvcKey(**values) if key.purpose is Purpose.CVC else DataKey(purpose=key.purpose, **values)
    with connection.cursor() as cursor:
        # Of many that find no key at once, the first keeps its own, and the others then find that one.
        cursor.execute(f"LOCK TABLE {row._meta.db_table} IN SHARE ROW EXCLUSIVE MODE")
    first = _newest(key.purpose, since)
    if first is None:
        row.save(force_insert=True)
    return first or key


def _apart(do: Callable[[], Result]) -> Result:
    """What `do` returns outside of the caller's transaction: by another connection, a thread's, where there is one.

    Only there, for if all who have a connection in hand waited for a second, nobody would ever get one.
    """
    if connection.in_atomic_block:
        with ThreadPoolExecutor(1, "kaha-data-keys") as thread:
            return thread.submit(_closing, do).result()
    return do() if connection.connection else _closing(do)


def _closing(do: Callable[[], Result]) -> Result:
    """What `do` returns, by a connection that is handed on afterwards, which a thread that ends would never do."""
    try:
        return do()
    finally:
        connection.close()
