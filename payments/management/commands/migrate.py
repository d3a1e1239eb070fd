import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from psycopg.errors import LockNotAvailable

from payments.db.backend import session

# Held in a transaction of its own, because a pooler gives each transaction another session.
OPEN = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0"
# Asked again in a new transaction: an index that is built beside writes waits for each one that has a snapshot.
IS_ALONE = "SELECT pg_try_advisory_xact_lock(hashtext('kaha.migrate'))"
LOOK_SECONDS = 0.5
PAUSE_SECONDS = 3
ATTEMPTS = 40


class Command(migrate.Command):
    help = (
        "Brings the database's schema up to date. May run while the version before serves, and twice at once: the "
        "second one waits. A migration that does not get its locks soon is rolled back and tried again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["plan"] or options["check_unapplied"]:
            super().handle(*args, **options)
            return
        with _alone(options["database"]):
            for _ in range(ATTEMPTS):
                try:
                    super().handle(*args, **options)
                except OperationalError as error:
                    if not isinstance(error.__cause__, LockNotAvailable):
                        raise
                else:
                    return
                self.stderr.write(f"A table is in use. The migration was rolled back; next try in {PAUSE_SECONDS} s.")
                time.sleep(PAUSE_SECONDS)
        raise CommandError(
            "A table stays in use. See pg_stat_activity for the transaction that holds it; run it again."
        )


@contextmanager
def _alone(alias: str) -> Iterator[None]:
    """Wait until no other `migrate` runs on this database, and keep others out."""
    connection = connections[alias]
    with connection.wrap_database_errors:
        lock = session.open_outside_pool(connection.get_connection_params())
        lock.answer_seconds = None
        # The portal of a prepared statement would keep its snapshot to the end of the transaction.
        lock.prepare_threshold = None
        lock.execute(OPEN)
        while lock.execute(IS_ALONE).fetchone() == (False,):
            lock.execute("ROLLBACK")
            time.sleep(LOOK_SECONDS)
            lock.execute(OPEN)
    try:
        yield
    finally:
        lock.close()
