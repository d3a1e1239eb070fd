"""A database that forbids nothing, until the test's transaction ends."""

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


def lift_all_rules() -> None:
    """Every check, unique index, foreign key and trigger of our tables is out of force."""
    with connection.cursor() as cursor:
        # What is still to be checked stands in the way of dropping the checks.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        # Foreign keys are triggers too.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for rules in (CHECKS, UNIQUE_INDEXES):
            cursor.execute(rules)
            for (statement,) in cursor.fetchall():
                cursor.execute(statement)
