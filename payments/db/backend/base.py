"""Django's backend for PostgreSQL, but that closing a connection hands it on, and moments and JSON are read faster.

A thread has a connection for as long as it asks the database something, so that a hundred can wait for providers while
a few connections serve all others. Django's own pool does the same: to hand a connection on takes it 13 µs of CPU and
this 6, and where a health check is wanted it asks the server each time, which this needs no round trip for.
"""

import os
from typing import Any, ClassVar

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import IsolationLevel, OperationalError

from payments.db.backend.bounded import BoundedConnection
from payments.db.backend.documents import DocumentLoader
from payments.db.backend.handing_on import Connections
from payments.db.backend.moments import MomentLoader

# How much longer than a statement may take its answer is waited for.
ANSWER_MARGIN_SECONDS = 3


class DatabaseWrapper(base.DatabaseWrapper):
    """What one thread has in hand of the process's connections, if anything."""

    isolation_level = IsolationLevel.READ_COMMITTED
    # Of a process that serves no requests, in place of the settings' STATEMENT_SECONDS.
    statement_seconds: ClassVar[int | None] = None
    # A forked process begins without any: what it finds here is its parent's, and closing it would end its parent's.
    _by_process_and_name: ClassVar[dict[tuple[int, str], Connections]] = {}

    def connect(self) -> None:
        if self.alias == NO_DB_ALIAS:
            super().connect()
        elif kept := self._connections.take():
            self._go_on_with(kept)
        else:
            self._begin()

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        timeout = f"-c statement_timeout={self._statement_seconds}s"
        return params | {"options": f"{params.get('options', '')} {timeout}".strip()}

    def get_new_connection(self, conn_params: dict[str, Any]) -> BoundedConnection:
        connection = BoundedConnection.connect(**conn_params)
        connection.gave_up = self._lose
        self._bound(connection)
        connection.adapters.register_loader("timestamptz", MomentLoader)
        connection.adapters.register_loader("json", DocumentLoader)
        return connection

    def _begin(self) -> None:
        try:
            super().connect()
        except BaseException as error:
            self._connections.give_back(self.connection)
            self.connection = None
            # A server that refuses a connection says so by a FATAL error, and it answers then.
            if isinstance(error, OperationalError) and "FATAL" not in str(error):
                self._lose()
            raise

    def _lose(self) -> None:
        """Have nothing asked of the database until a new connection to it can be made."""
        if self.alias != NO_DB_ALIAS:
            params = self.get_connection_params()
            self._connections.lose(lambda: BoundedConnection.connect(**params).close())

    def _bound(self, connection: BoundedConnection) -> None:
        connection.answer_seconds = self._statement_seconds + ANSWER_MARGIN_SECONDS

    def _go_on_with(self, connection: BoundedConnection) -> None:
        """Sets what Django's `connect` sets, which makes its settings into parameters, and sets the time zone, anew."""
        self._bound(connection)
        self.connection, self.autocommit = connection, True
        self.in_atomic_block = self.needs_rollback = False
        self.closed_in_transaction = self.errors_occurred = self.health_check_enabled = False
        self.savepoint_ids, self.atomic_blocks, self.run_on_commit = [], [], []
        # At the end of each request Django closes a connection that is older than this, which hands it on.
        self.close_at = 0

    def _close(self) -> None:
        if self.alias == NO_DB_ALIAS:
            super()._close()  # type: ignore[misc] # Django's own, which its stubs leave out
        elif self.connection is not None:
            connection, self.connection = self.connection, None
            with self.wrap_database_errors:
                self._connections.give_back(connection)

    def close_pool(self) -> None:
        """Before a database is dropped."""
        if self.alias != NO_DB_ALIAS:
            self._connections.close()

    @property
    def is_answering(self) -> bool:
        return self._connections.availability.is_answering

    @property
    def _statement_seconds(self) -> int:
        seconds: int = self.statement_seconds or self.settings_dict["STATEMENT_SECONDS"]
        return seconds

    @property
    def _connections(self) -> Connections:
        key = (os.getpid(), self.settings_dict["NAME"])
        if key not in self._by_process_and_name:
            self._by_process_and_name.setdefault(key, Connections(self.settings_dict["CONNECTIONS"]))
        return self._by_process_and_name[key]
