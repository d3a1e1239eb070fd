"""The database's own guards of the audit log."""

import os

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import AuditEntry
from tests.audit.conftest import LENGTH

# Of this process alone, for roles are shared by all databases of a server.
ROLE = f"kaha_auditor_{os.getpid()}"
TAMPERING = {
    "update": "UPDATE payments_auditentry SET reason = 'forged'",
    "delete": "DELETE FROM payments_auditentry",
    "move the head": "UPDATE payments_audithead SET number = 0",
    "remove the head": "DELETE FROM payments_audithead",
}


@pytest.mark.parametrize("statement", TAMPERING.values(), ids=TAMPERING)
def test_the_log_is_append_only_even_for_a_superuser(log: list[AuditEntry], statement: str) -> None:
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("wrong", [{"number": LENGTH + 1}, {"number": 3}, {"previous_hash": b"x" * 32}])
def test_an_entry_that_brings_its_own_place_is_refused(log: list[AuditEntry], wrong: dict[str, object]) -> None:
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        AuditEntry.objects.bulk_create([AuditEntry(hash=b"y" * 32, action="forged", **wrong)])


def test_an_entry_that_is_not_linked_yet_is_not_changed_either(log: list[AuditEntry]) -> None:
    audit_log.record(Action.DELETED)
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE payments_auditentry SET hash = sha256('') WHERE number IS NULL")


@pytest.mark.parametrize(
    "statement",
    [*list(TAMPERING.values())[:2], "TRUNCATE payments_auditentry", TAMPERING["remove the head"]],
    ids=["update", "delete", "truncate", "remove the head"],
)
def test_the_application_has_no_right_to_change_the_log(log: list[AuditEntry], statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE}")
        for table in ("payments_auditentry", "payments_audithead"):
            # The migration runs as the owner, whose own rights it takes.
            cursor.execute(f"ALTER TABLE {table} OWNER TO {ROLE}")
        cursor.execute(f"SET LOCAL ROLE {ROLE}")
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            cursor.execute(statement)
        cursor.execute("RESET ROLE")
