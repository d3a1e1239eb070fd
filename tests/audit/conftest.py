"""A log with a few entries, and somebody who may do everything to the database."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import AuditEntry
from tests.factories import MerchantFactory

Forge = Callable[..., None]
LENGTH = 5
LINK = "payments_auditentry_is_linked"


@pytest.fixture
def log(db: None) -> list[AuditEntry]:
    """Return a log of LENGTH entries."""
    merchant = MerchantFactory(title="Sari Store")
    for number in range(LENGTH):
        audit_log.record(Action.CHANGED, merchant, fields=["rates"], detail=f"change {number}", reason="Ticket 77")
    link_now()
    return list(AuditEntry.objects.order_by("id"))


def link_now() -> None:
    """Link the entries of this transaction into the chain, as its commit would."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET CONSTRAINTS {LINK} IMMEDIATE; SET CONSTRAINTS {LINK} DEFERRED")


@pytest.fixture
def forge() -> Forge:
    """Return a function that runs statements as a superuser with triggers off."""

    def run(*statements: str) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            for statement in ("SET LOCAL session_replication_role = replica", *statements):
                cursor.execute(statement)

    return run
