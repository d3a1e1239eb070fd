"""Empties the database after a test that commits.

Django truncates all of some hundred tables and makes the permissions anew, which takes longer than most tests.
A test writes to few tables.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import TransactionTestCase
from pytest_django.plugin import DjangoDbBlocker

from payments import clock, vault
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.domain.maintenance.partitions import make_ahead
from payments.models import ApprovalLimit

# What `post_migrate` makes is compared, not emptied.
MADE = ("django_content_type", "auth_permission", "auth_group", "auth_group_permissions")

# A table has pages from its first row on. Deleted rows stay in the pages, and what was analyzed is planned by its
# statistics: so tables that are large or were analyzed are truncated, and with them those that refer to them.
EMPTY = f"""
DO $$
DECLARE
    emptied oid[] := ARRAY(SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                           AND relname NOT IN {(*MADE, "django_migrations")});
    used regclass;
BEGIN
    SET LOCAL session_replication_role = replica;
    IF EXISTS (SELECT FROM pg_class
               WHERE oid = ANY (emptied) AND (reltuples > 0 OR pg_relation_size(oid) > 131072)) THEN
        EXECUTE 'TRUNCATE ' || (SELECT string_agg(oid::regclass::text, ', ') FROM unnest(emptied) AS oid);
        RETURN;
    END IF;
    FOR used IN SELECT oid FROM unnest(emptied) AS oid WHERE pg_relation_size(oid) > 0 LOOP
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', used);
        EXECUTE format('DELETE FROM %s', used);
    END LOOP;
END $$
"""


# One sum of the rows of each table.
ROWS_MADE = " UNION ALL ".join(
    f"SELECT md5(string_agg(made::text, ' ' ORDER BY made::text)) FROM {table} made" for table in MADE
)


class EmptyDatabase:
    """Empties the tables, and makes the permissions anew where a test changed them."""

    def __init__(self) -> None:
        self.made = self._made_now()
        # `post_migrate` makes them too, and many tests change them.
        self._limits = list(ApprovalLimit.objects.all())

    def _made_now(self) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(ROWS_MADE)
            return cursor.fetchall()

    def __call__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(EMPTY)
        if self._made_now() == self.made:
            make_ahead(clock.now())
            ApprovalLimit.objects.bulk_create(self._limits)
        else:
            call_command("flush", verbosity=0, interactive=False)
            self.made, self._limits = self._made_now(), list(ApprovalLimit.objects.all())
        vault.use_store(DatabaseKeyStore())


@contextmanager
def emptied_once(blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep what is committed, by tests too, until the block ends; empty the database then."""
    empty = TransactionTestCase._fixture_teardown
    with blocker.unblock():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: None)
            yield
        empty()
