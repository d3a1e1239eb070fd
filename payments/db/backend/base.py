"""Django's backend for PostgreSQL with a connection pool, a circuit breaker, and faster timestamps and JSON.

A thread has a connection only while it uses the database, so that a hundred threads can wait for providers while a few
connections serve the others. Django's own pool does the same, but takes 13 µs of CPU per use where this takes 6, and
its health check needs a round trip where this one needs none.
"""

import os
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

from django.db import NotSupportedError
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base, schema
from psycopg import IsolationLevel, OperationalError
from psycopg.abc import Buffer
from psycopg.adapt import Loader

from payments.db.backend import session
from payments.db.backend.bounded_connection import BoundedConnection
from payments.db.backend.compiler import DatabaseOperations
from payments.db.backend.connection_pool import ConnectionPool
from payments.db.backend.watched_connection import WatchedConnection
from payments.json_codecs.verbatim_json import DECODER

# How long past the statement time-out the client waits for an answer.
ANSWER_MARGIN_SECONDS = 3
# All who come later wait behind a migration that waits for a lock, so it gives up soon; `migrate` tries it again.
IN_TRANSACTION = ("SET LOCAL statement_timeout = 0", "SET LOCAL lock_timeout = '2s'")
# What builds an index CONCURRENTLY waits for transactions that began before it, and nobody waits for it.
ALONE = ("SET statement_timeout = 0", "SET lock_timeout = 0")
AFTERWARDS = ("RESET statement_timeout", "RESET lock_timeout")
DIRECT = (
    "This migration is not atomic, so its time-outs cannot be set through a pooler: "
    "run migrate with a DATABASE_URL of PostgreSQL itself and without DATABASE_POOLER."
)


class JsonLoader(Loader):
    """Loads a `json` value, which PostgreSQL has validated.

    Psycopg's own detects the encoding and looks for trailing data first (`timeit`: 1.7 µs for `{}`, this 0.3), and a
    page of twenty charges has some forty values.
    """

    def load(self, data: Buffer) -> Any:
        # The type keeps the text as it was sent, also the blanks before the value, which `raw_decode` refuses.
        return DECODER.raw_decode(str(data, "utf-8").lstrip())[0]


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    """Runs the statements of one migration: without the time-outs of requests, and never long in their way."""

    def __enter__(self) -> Self:
        if not (self.collect_sql or self.atomic_migration) and self.connection.settings_dict["IS_POOLED"]:
            raise NotSupportedError(DIRECT)
        super().__enter__()
        self._set(IN_TRANSACTION if self.atomic_migration else ALONE)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if exc_type is None:
            try:
                while self.deferred_sql:
                    self.execute(self.deferred_sql.pop(0), None)
            except Exception as error:
                # Django's own would leave the transaction open, and a second try would find it aborted.
                super().__exit__(type(error), error, error.__traceback__)
                raise
        super().__exit__(exc_type, exc_value, traceback)
        if not self.atomic_migration and not self.connection.in_atomic_block:
            self._set(AFTERWARDS)

    def _set(self, statements: tuple[str, ...]) -> None:
        if self.collect_sql:
            return
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        self.connection.connection.answer_seconds = None


class DatabaseWrapper(base.DatabaseWrapper):
    """The connection that one thread has taken from the pool of the process, if any."""

    SchemaEditorClass = DatabaseSchemaEditor
    ops_class = DatabaseOperations
    isolation_level = IsolationLevel.READ_COMMITTED
    # Replaces the settings' STATEMENT_SECONDS in a process that serves no requests.
    statement_seconds: ClassVar[int | None] = None
    # By process ID, because to close an inherited connection after a fork would end the parent's.
    _by_process_and_name: ClassVar[dict[tuple[int, str, bool], ConnectionPool]] = {}

    def connect(self) -> None:
        if self.alias == NO_DB_ALIAS:
            super().connect()
            return
        self._pool = self.process_pool
        self._turn, kept = self._pool.take()
        if kept:
            self._reuse(kept)
            return
        try:
            super().connect()
        except BaseException as error:
            self._pool.give_back(self._turn, self.connection)
            self.connection = None
            # A server that refuses a connection with a FATAL error does answer.
            if isinstance(error, OperationalError) and "FATAL" not in str(error):
                self._lose()
            raise

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        if self.settings_dict["IS_POOLED"]:
            # The next statement may be another session's, which has prepared nothing.
            return params | {"prepare_threshold": None}
        return params | {"options": session.options(self.statement_time_seconds, self.is_standby)}

    def get_new_connection(self, conn_params: dict[str, Any]) -> BoundedConnection:
        connection = BoundedConnection.connect(**conn_params)
        if self.alias != NO_DB_ALIAS:
            self.watch(connection)
        self._bound(connection)
        connection.adapters.register_loader("json", JsonLoader)
        return connection

    def watch(self, connection: BoundedConnection | WatchedConnection) -> None:
        """Have a connection to this database end where its server does not answer others either."""
        info = connection.info
        # Which of the hosts it is to, and at which of its addresses.
        address = {"host": info.host, "hostaddr": info.hostaddr or None, "port": info.port}
        connection.gave_up, connection.is_there = self._lose, partial(self._is_there, address)

    def _lose(self) -> None:
        """Have nothing asked of the database until a new connection to it can be made."""
        if self.alias != NO_DB_ALIAS:
            self.process_pool.lose(partial(_probe, self.get_connection_params()))

    def _is_there(self, address: Mapping[str, Any]) -> bool:
        """Return whether the server at `address`, of several perhaps, still answers."""
        params = self.get_connection_params() | dict(address) | {"target_session_attrs": "any"}
        return self.process_pool.is_there(tuple(address.values()), partial(_probe, params))

    def _bound(self, connection: BoundedConnection) -> None:
        connection.answer_seconds = self.statement_time_seconds + ANSWER_MARGIN_SECONDS

    def _reuse(self, connection: BoundedConnection) -> None:
        """Set what Django's `connect` sets, which makes its settings into parameters, and sets the time zone, anew."""
        self._bound(connection)
        self.connection, self.autocommit = connection, True
        self.in_atomic_block = self.needs_rollback = False
        self.closed_in_transaction = self.errors_occurred = self.health_check_enabled = False
        self.savepoint_ids, self.atomic_blocks, self.run_on_commit = [], [], []
        # At the end of each request Django closes a connection that is older than this, which hands it on.
        self.close_at = 0

    # Django's hook for what `close` does with the connection; `close` itself also looks after transactions.
    def _close(self) -> None:
        if self.alias == NO_DB_ALIAS:
            super()._close()  # type: ignore[misc] # Django's stubs leave it out
        elif self.connection is not None:
            connection, self.connection = self.connection, None
            with self.wrap_database_errors:
                self._pool.give_back(self._turn, connection)

    def close_pool(self) -> None:
        """Close the idle connections and end the probe, before a database is dropped or not used any more."""
        if self.alias != NO_DB_ALIAS:
            self.process_pool.close()
            self.process_pool.breaker.close()

    @property
    def is_answering(self) -> bool:
        return not self.process_pool.breaker.is_open

    @property
    def statement_time_seconds(self) -> int:
        """How long a statement of this process may take."""
        seconds: int = self.statement_seconds or self.settings_dict["STATEMENT_SECONDS"]
        return seconds

    @property
    def is_standby(self) -> bool:
        """Whether this is a standby, by whose sessions nothing is written, not even once it has become a primary."""
        return bool(self.settings_dict["OPTIONS"]["target_session_attrs"] == session.STANDBY)

    @property
    def process_pool(self) -> ConnectionPool:
        """The pool of this process, which all threads share."""
        key = (os.getpid(), self.settings_dict["NAME"], self.is_standby)
        if key not in self._by_process_and_name:
            self._by_process_and_name.setdefault(key, ConnectionPool(self.settings_dict["CONNECTIONS"]))
        return self._by_process_and_name[key]


def _probe(params: dict[str, Any]) -> None:
    """Connect and ask something, as a pooler takes connections whose database is away; raise an Error otherwise."""
    with session.open_outside_pool(params) as connection:
        connection.execute("SELECT 1")
