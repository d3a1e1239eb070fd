"""A database without constraints, until the test's transaction ends."""

from django.db import connection

OURS = "LIKE ANY (ARRAY['payments_%', 'simulator_%', 'customers_%'])"
CHECKS = f"""
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
FROM pg_constraint WHERE contype IN ('c', 'u') AND coninhcount = 0 AND conrelid::regclass::text {OURS}
"""
UNIQUE_INDEXES = f"""
SELECT format('DROP INDEX %s', indexrelid::regclass)
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE NOT relispartition AND indisunique AND NOT indisprimary AND indrelid::regclass::text {OURS}
"""


def drop_all_constraints() -> None:
    """Disable every check, unique index, foreign key and trigger of our tables."""
    with connection.cursor() as cursor:
        # Deferred checks would prevent dropping the constraints.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        # Foreign keys are triggers too.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for rules in (CHECKS, UNIQUE_INDEXES):
            cursor.execute(rules)
            for (statement,) in cursor.fetchall():
                cursor.execute(statement)
