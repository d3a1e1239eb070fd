"""The statements of requests and sweeps that would cross shards, recorded as kaha sends them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from tests.contract.scopes.statements import NOTHING_TO_READ
from tests.sharding.statements import crossing


class Recording:
    """Reads each statement, as a wrapper around Django's execution.

    `texts` are those that cross shards, `tables` the tables, without our prefix, of which they name no merchant.
    """

    def __init__(self) -> None:
        self.tables: set[str] = set()
        self.texts: list[str] = []
        self.count = 0

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        text = connection.ops.last_executed_query(context["cursor"], sql, params)
        if not NOTHING_TO_READ.match(text):
            self.count += 1
            if tables := crossing(text):
                self.tables |= {table.removeprefix("payments_") for table in tables}
                self.texts.append(text)
        return execute(sql, params, many, context)


@contextmanager
def recorded() -> Iterator[Recording]:
    """Yield the recording of all that is sent on this connection meanwhile."""
    recording = Recording()
    with connection.execute_wrapper(recording):
        yield recording
