"""A restore within one database: everything done in a block is lost, and the simulator's books are kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection, transaction

from payments import clock
from payments.providers.simulator.models import Entry, Message, SimulatedOperation, SimulatedPayment

BOOKS = (SimulatedPayment, SimulatedOperation, Entry, Message)


@contextmanager
def lost() -> Iterator[datetime]:
    """Lose what the block does, but not at the provider; yield the moment of the restore."""
    moment = transaction.savepoint()
    yield clock.now()
    rows = {model: list(model._default_manager.all()) for model in BOOKS}
    transaction.savepoint_rollback(moment)
    with connection.cursor() as cursor:
        # The books are a provider's, whose rules do not concern us here.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET session_replication_role = replica")
        for model in reversed(BOOKS):
            cursor.execute(f"DELETE FROM {model._meta.db_table}")
        for model in BOOKS:
            model._default_manager.bulk_create(rows[model])
        cursor.execute("RESET session_replication_role; SET CONSTRAINTS ALL DEFERRED")
