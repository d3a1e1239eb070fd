"""The migration opens the books with what had moved before there were any."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from payments.domain import recovery
from payments.models import Attempt, Charge
from tests.client import ANSWER_LOST, APPROVED, DECLINED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT, Api
from tests.domain.lateness import arrive_late, settle_refunds
from tests.domain.passing import recover
from tests.ledger.books import standing

BEFORE = ("payments", "0002_notification")


def make_one_of_each(api: Api) -> None:
    """Charges of each kind; of every movement that is still to be seen on the accounts there is one."""

    def do(charge: dict[str, object], verb: str, **body: int) -> None:
        api.post(f"/charges/{charge['id']}/{verb}", body)

    api.charge(NEVER_ARRIVES)
    recover()
    recovery.apply_report(arrive_late(Attempt.objects.get()))
    do(api.charge(REFUNDS_FAIL), "refund", amount=900)
    settle_refunds()
    for number in (APPROVED, DECLINED, ANSWER_LOST):
        api.charge(number)
    api.held()
    api.charge(currency="JPY")
    do(api.held(), "capture", amount=4_000)
    do(api.held(), "void")
    do(api.charge(), "void")
    do(api.charge(), "refund", amount=700)
    do(api.charge(REFUNDS_WAIT), "refund", amount=300)


def open_again() -> None:
    """Goes back to the tables as they were before the ledger, and forward again."""
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        MigrationExecutor(connection).migrate([BEFORE])
        assert "payments_posting" not in connection.introspection.table_names()
    finally:
        MigrationExecutor(connection).migrate(latest)


@pytest.mark.django_db(transaction=True)
def test_the_books_open_with_what_moved_before_there_were_any(api: Api) -> None:
    make_one_of_each(api)
    charges = list(Charge.objects.order_by("id"))
    posted = {charge.id: standing(charge=charge) for charge in charges}
    due = {charge.id for charge in charges if charge.settle_due_at}
    assert {account for sums in posted.values() for account in sums} == {
        *("provider_hold", "merchant_hold", "provider_receivable", "merchant_pending"),
        *("refunds_in_transit", "reversals"),
    }

    open_again()

    assert {charge.id: standing(charge=charge) for charge in charges} == posted
    assert set(Charge.objects.filter(settle_due_at__isnull=False).values_list("id", flat=True)) == due
