"""Whether anything in the database has changed, by the newest transaction and the number of rows of each table."""

from functools import cache

from django.apps import apps
from django.db import connection

from payments.models import ApiKey, CvcKey, DataKey, IdempotencyRecord, Merchant

Rows = dict[str, tuple[int, int]]

LABELS = ("payments", "customers", "simulator")

# When a key was last used is noted of refused requests too, and data keys are made whenever none is young enough.
OTHERWISE_CHANGED = {model._meta.db_table for model in (ApiKey, CvcKey, DataKey)}
# A conflict is kept under its idempotency key, to be repeated.
KEPT_BY_CONFLICTS = IdempotencyRecord._meta.db_table


def rows() -> Rows:
    """Return the state of every table that a request may write."""
    with connection.cursor() as cursor:
        cursor.execute(_statement())
        return {table: (count, newest) for table, count, newest in cursor.fetchall()}


def changed(before: Rows, after: Rows, status: int) -> list[str]:
    """Return the tables that differ although an answer of this status says that nothing was done."""
    tables = [table for table in after if before[table] != after[table]]
    return [table for table in tables if status != 409 or table != KEPT_BY_CONFLICTS]


def empty() -> None:
    """Remove all merchants with all that is theirs, because each look reads every row."""
    roots = [Merchant, *apps.get_app_config("simulator").get_models()]
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(model._meta.db_table for model in roots)} CASCADE")


@cache
def _statement() -> str:
    models = [model for label in LABELS for model in apps.get_app_config(label).get_models()]
    tables = {model._meta.db_table for model in models} - OTHERWISE_CHANGED
    each = "SELECT '{0}', count(*), coalesce(max(xmin::text::bigint), 0) FROM \"{0}\""
    return " UNION ALL ".join(each.format(table) for table in sorted(tables))
