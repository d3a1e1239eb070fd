"""What `/ready` looks at behind the database's answer: each check returns one plain line for each fault.

Anybody may read them where no proxy keeps `/ready` back, so they name no key, migration or table; the doctor does.
"""

from datetime import date
from functools import cache
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from redis import RedisError

from payments import clock, vault
from payments.db import partitions
from payments.db.backend import session
from payments.db.backend.bounded_connection import BoundedConnection
from payments.redis_client.pipeline import RedisPipeline

# The newest data key of each key-encryption key in use.
WRAPPED = """
SELECT DISTINCT ON (kek) id, purpose, kek, wrapped, created_at FROM payments_datakey
WHERE destroyed_at IS NULL ORDER BY kek, created_at DESC
"""


def limits(probe: BoundedConnection) -> list[str]:
    """Return the time-outs that do not hold."""
    return session.faults_of(probe, connection.statement_time_seconds)  # type: ignore[attr-defined]


def migrations(probe: BoundedConnection) -> list[str]:
    """Return a line where this version has migrations that the database has not; later ones of the database may be."""
    [[is_there]] = probe.execute("SELECT to_regclass('django_migrations') IS NOT NULL").fetchall()
    applied = set(probe.execute("SELECT app, name FROM django_migrations").fetchall()) if is_there else set()
    return ["migrations are not applied; run migrate"] if _own_migrations() - applied else []


def this_month(probe: BoundedConnection) -> list[str]:
    """Return a line where no charge can be made, because this month's tables are missing."""
    return _without_table(probe, partitions.month_of(clock.now()), "this month")


def next_month(probe: BoundedConnection) -> list[str]:
    return _without_table(probe, partitions.after(partitions.month_of(clock.now())), "next month")


def vault_keys(probe: BoundedConnection) -> list[str]:
    """Return a line where a key-encryption key in use does not open what it has wrapped."""
    rows = [
        vault.WrappedKey(key_id, vault.Purpose(purpose), kek, bytes(wrapped), created_at)
        for key_id, purpose, kek, wrapped, created_at in probe.execute(WRAPPED).fetchall()
    ]
    return [] if all(map(vault.opens, rows)) else ["the vault cannot open its data keys; run the doctor"]


def redis() -> list[str]:
    """Return a line where Redis does not answer, without which each process counts requests for itself."""
    try:
        RedisPipeline(settings.REDIS_URL).ask([("PING",)])
    except RedisError:
        return ["Redis does not answer"]
    return []


# Without one of these no charge can be made. Those of the second kind leave the process ready.
FAULTS = (limits, migrations, this_month, vault_keys)
WARNINGS = (next_month,)


def _without_table(probe: BoundedConnection, month: date, name: str) -> list[str]:
    cursor: Any = probe.cursor()
    is_missing = any(month not in parted.starts(cursor) for parted in partitions.ALL)
    return [f"no table for {name}; start a worker or run migrate"] if is_missing else []


@cache
def _own_migrations() -> set[tuple[str, str]]:
    return set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
