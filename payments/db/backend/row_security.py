"""Row-level security: within `rows_of` this thread's connection reads the rows of one merchant and nothing else.

It is the second wall of the merchants' site: a page that forgot to filter by merchant shows nothing of another one.
The service's own role owns the tables, so that PostgreSQL asks it nothing. What lets the
connection read a table is in `payments.migrations.row_security`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.db import connection, transaction

ROLE = "kaha_merchant"
_is_up: ContextVar[bool] = ContextVar("row_security", default=False)


@contextmanager
def rows_of(merchant_id: UUID) -> Iterator[None]:
    """Let this thread's connection read the rows of one merchant alone within the block, which is a transaction.

    Everything else is refused there: writes, and tables that `readable` does not name.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('kaha.merchant', %s, true)", [str(merchant_id)])
        _become(ROLE)
        token = _is_up.set(True)
        try:
            yield
            # An error ends the role with the transaction.
            _become("NONE")
        finally:
            _is_up.reset(token)


@contextmanager
def rows_of_service() -> Iterator[None]:
    """Let the connection read as the service does within the block, where it is in one of `rows_of`.

    For what belongs to no merchant, and for conditions that no index serves below row-level security.
    """
    if not _is_up.get():
        yield
        return
    token = _is_up.set(False)
    try:
        _become("NONE")
        yield
        _become(ROLE)
    finally:
        _is_up.reset(token)


def _become(role: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {role}")
