"""Changes of the schema, as migrations make them: without the time-outs of requests, and never long in their way."""

from typing import Any, Self

from django.db import NotSupportedError
from django.db.backends.postgresql import schema

# All who come later wait behind a migration that waits for a lock, so it gives up soon; `migrate` tries it again.
IN_TRANSACTION = ("SET LOCAL statement_timeout = 0", "SET LOCAL lock_timeout = '2s'")
# What builds an index CONCURRENTLY waits for transactions that began before it, and nobody waits for it.
ALONE = ("SET statement_timeout = 0", "SET lock_timeout = 0")
AFTERWARDS = ("RESET statement_timeout", "RESET lock_timeout")
DIRECT = (
    "This migration is not atomic, so its time-outs cannot be set through a pooler: "
    "run migrate with a DATABASE_URL of PostgreSQL itself and without DATABASE_POOLER."
)


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    """Runs the statements of one migration."""

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
