"""What lets `payments.db.backend.row_security` read a table; here, so that a migration stays what it was.

A later migration for a table of its own uses it as it is.
"""

from collections.abc import Iterable

from django.db.migrations import RunSQL

ROLE = "kaha_merchant"

# Roles belong to the whole server: another database's migration may make this one at the same moment.
MAKE_ROLE = """
DO $$
DECLARE
    -- Before PostgreSQL 16 each member may become the role.
    may_become text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'kaha_merchant') THEN
        BEGIN
            CREATE ROLE kaha_merchant NOLOGIN;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'The role kaha_merchant is missing.' USING HINT = format(
                    'As a superuser: CREATE ROLE kaha_merchant; GRANT kaha_merchant TO %I;', current_user
                );
        END;
    END IF;
    IF NOT pg_has_role(current_user, 'kaha_merchant', may_become) THEN
        GRANT kaha_merchant TO CURRENT_USER;
    END IF;
END $$;
"""
POLICY = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON {table} TO {role};
CREATE POLICY for_the_service ON {table} USING (true) WITH CHECK (true);
CREATE POLICY of_one_merchant ON {table} AS RESTRICTIVE TO {role}
    USING ({condition});
"""
OF_ONE_MERCHANT = "{column} = (SELECT nullif(current_setting('kaha.merchant', true), '')::uuid)"


def readable(tables: Iterable[str], column: str = "merchant_id") -> RunSQL:
    """Return the operation that lets `rows_of` read `tables`, whose `column` names the merchant."""
    condition = OF_ONE_MERCHANT.format(column=column)
    policies = (POLICY.format(table=table, role=ROLE, condition=condition) for table in tables)
    return RunSQL("".join([MAKE_ROLE, *policies]))


def readable_whole(tables: Iterable[str]) -> RunSQL:
    """Return the operation that lets `rows_of` read all rows of `tables`, of which no page shows another merchant's."""
    return RunSQL("".join([MAKE_ROLE, *(f"GRANT SELECT ON {table} TO {ROLE};" for table in tables)]))


def people() -> RunSQL:
    """Return the operation that lets `rows_of` read the accounts of the merchant's own people, and of nobody else.

    Those whose access was ended are still named beside what they asked for and decided.
    """
    members = "id IN (SELECT user_id FROM payments_merchantaccess WHERE role <> '')"
    asked = "EXISTS (SELECT FROM payments_approvalrequest WHERE {} = auth_user.id)"
    ended = " OR ".join(asked.format(column) for column in ("proposed_by_id", "decided_by_id"))
    condition = f"{members} OR NOT is_staff AND ({ended})"
    return RunSQL(MAKE_ROLE + POLICY.format(table="auth_user", role=ROLE, condition=condition))
