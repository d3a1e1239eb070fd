"""Faster loaders of psycopg for timestamps and JSON."""

from datetime import UTC, datetime
from typing import Any

from psycopg import DataError
from psycopg.abc import Buffer
from psycopg.adapt import Loader

from payments.json_codecs.verbatim_json import DECODER


class TimestampLoader(Loader):
    """Loads a `timestamptz` of a connection in UTC by `datetime.fromisoformat`.

    Psycopg's own uses a regular expression and eight conversions (`timeit`: 7.1 µs, this 0.4), and a page of twenty
    charges has more than a hundred timestamps.
    """

    # Django compares it with the connection's.
    timezone = UTC

    def load(self, data: Buffer) -> datetime:
        """Return the datetime; raise DataError for infinity and for years before 1 or after 9999."""
        try:
            return datetime.fromisoformat(bytes(data).decode())
        except ValueError as error:
            raise DataError("PostgreSQL sent a timestamp that Python has no datetime for.") from error


class JsonLoader(Loader):
    """Loads a `json` value, which PostgreSQL has validated.

    Psycopg's own detects the encoding and looks for trailing data first (`timeit`: 1.7 µs for `{}`, this 0.3), and a
    page of twenty charges has some forty values.
    """

    def load(self, data: Buffer) -> Any:
        # The type keeps the text as it was sent, also the blanks before the value, which `raw_decode` refuses.
        return DECODER.raw_decode(bytes(data).decode().lstrip())[0]
