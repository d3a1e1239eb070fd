"""Statements of every request: each has a cursor of its own on each connection, which knows its types of parameters.

A new cursor looks them up again, and psycopg's usual one converts a statement of more than 50 parameters at each call.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Any, Self
from uuid import UUID

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import RawCursor, adapters
from psycopg._cmodule import _psycopg
from psycopg.rows import TupleRow
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import TextLoader

from payments.db.backend.bounded_connection import BoundedConnection

# Cursors of one connection.
MOST_CURSORS = 256
SHOWN_AS_TEXT = ("timestamptz", "uuid")


def send(
    connection: BaseDatabaseWrapper, text: str, params: Sequence[Any], for_rendering: bool = False
) -> CursorWrapper:
    """Execute a statement with `%s` for its parameters; return the cursor, whose rows are there until it is used again.

    Django's execute wrappers and query log see it, and it raises Django's errors. Whole numbers are sent as bigint:
    psycopg would choose a type by size, and PostgreSQL would plan the statement again for each type. Moments and UUIDs
    of rows `for_rendering` are PostgreSQL's texts.
    """
    if connection.connection is None:
        connection.ensure_connection()
    numbered: Any = _cursor_of(connection.connection, text, for_rendering)
    cursor = (connection.make_debug_cursor if connection.force_debug_cursor else connection.make_cursor)(numbered)
    cursor.execute(text, params)
    return cursor


class _UuidText(str):
    """A UUID as PostgreSQL reads it. The driver's own way to send one calls two functions of Python."""

    __slots__ = ()


class _UuidDumper(_psycopg._StrDumper):  # type: ignore[name-defined] # the driver's own in C, for texts
    oid = adapters.types["uuid"].oid


class _NumberedCursor(RawCursor[TupleRow]):
    """Sends PostgreSQL's `$n` for Django's `%s`."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        sent = [_UuidText(f"{it.int:032x}") if type(it) is UUID else it for it in params or ()]
        return super().execute(_numbered(query), sent, **options)


def _cursor_of(connection: BoundedConnection, text: str, for_rendering: bool) -> RawCursor[TupleRow]:
    if known := connection.cursors.get((text, for_rendering)):
        return known
    if len(connection.cursors) >= MOST_CURSORS:
        connection.cursors.clear()
    cursor = connection.cursors[text, for_rendering] = _NumberedCursor(connection)
    cursor.adapters.register_dumper(int, Int8BinaryDumper)
    cursor.adapters.register_dumper(_UuidText, _UuidDumper)
    for name in SHOWN_AS_TEXT if for_rendering else ():
        cursor.adapters.register_loader(name, TextLoader)
    return cursor


@lru_cache(maxsize=512)
def _numbered(text: str) -> bytes:
    """Return the statement converted, as the same object each time, by which a cursor knows its statement again."""
    number = count(1)
    return re.sub("%[%s]", lambda mark: "%" if mark[0] == "%%" else f"${next(number)}", text).encode()
