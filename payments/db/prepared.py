"""Statements that are made once and sent often."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Any, Self

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import RawCursor
from psycopg.rows import TupleRow
from psycopg.types.numeric import Int8


class NumberedCursor(RawCursor[TupleRow]):
    """Takes Django's `%s` and sends PostgreSQL's `$n`, found once for a statement and not at each call.

    Psycopg's own cursor looks for them again at each call of a statement of more than 50 parameters.
    """

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        return super().execute(_numbered(query), params, **options)


def send(connection: BaseDatabaseWrapper, text: str, params: Sequence[Any]) -> CursorWrapper:
    """Runs a statement whose only `%` are those of its `%s`; returns the cursor with its rows, to be closed.

    It is seen by Django's execute wrappers and query log as any other, and raises Django's errors.
    Each whole number goes as a bigint: psycopg would choose a type by its size, and for each choice PostgreSQL would
    plan the statement anew.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    numbered: Any = NumberedCursor(connection.connection)
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    cursor = wrap(numbered)
    cursor.execute(text, [Int8(param) if type(param) is int else param for param in params])
    return cursor


@lru_cache(maxsize=512)
def _numbered(text: str) -> bytes:
    first, *others = text.split("%s")
    number = count(1)
    return "".join([first, *(f"${next(number)}{other}" for other in others)]).encode()
