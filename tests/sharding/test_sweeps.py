"""Which statements of sweeps would cross shards: the list in the sharding guide."""

from datetime import timedelta

import pytest
from django.db.models import Model

from payments import clock
from payments.domain.approvals import decide
from payments.ids import parse_id
from payments.models import ApprovalRequest, Attempt, Charge, Checkout, Dispute, PaymentRequest, Payout, PayoutSchedule
from payments.sweeps.table import SWEEPS
from payments.tasks import run_sweep
from tests.checkout.cast import SAVE_CARD, customer, opened, save
from tests.client import ANSWER_LOST, Api, made
from tests.contract.calls import with_evidence
from tests.contract.scopes.routes import things_of
from tests.operators.factories import person, proposed
from tests.reconciliation.bank.files import camt, details, entry
from tests.reconciliation.bank.stories import own_account, read
from tests.sharding.guide import tables_in_guide
from tests.sharding.statement_log import recorded

pytestmark = [pytest.mark.django_db, pytest.mark.long]

# They need a connection or transaction of their own, read what is committed, change the schema, or send mail.
NOT_RECORDED = {
    *("deliver_webhooks", "maintain_partitions", "finish_key_rotation"),
    *("clear_sessions", "check_money", "update_search"),
}
DUE: tuple[tuple[type[Model], str], ...] = (
    (Attempt, "due_at"),
    (Charge, "hold_expires_at"),
    (Charge, "settle_due_at"),
    (Checkout, "expires_at"),
    (Checkout, "check_due_at"),
    (PaymentRequest, "remind_at"),
    (Dispute, "response_due_at"),
    (Payout, "due_at"),
    (PayoutSchedule, "next_at"),
)


@pytest.fixture
def everything_due(noon: None, api: Api) -> None:
    """Have something to do for each sweep that moves money; in the first hour of a day, the one before is summed."""
    things_of(api)
    made(api.post(f"/disputes/{with_evidence(api)}/submit"))
    api.post("/charges/", {**ORDER, "source": api.source(ANSWER_LOST)})
    save(opened(api, **SAVE_CARD, customer=customer(api)), ANSWER_LOST)
    charge = Charge.objects.get(id=parse_id("ch", api.charge()["id"]))
    decide.approve(proposed(charge=charge), person("ben", "finance"), "Fine.")
    ApprovalRequest.objects.update(updated_at=clock.now() - timedelta(hours=1))
    read(camt(entry("12.00", details("nobody's"), day=f"{clock.now():%Y-%m-%d}")), own_account())
    for model, column in DUE:
        rows = model._default_manager.filter(**{f"{column}__isnull": False})
        rows.update(**{column: clock.now() - timedelta(minutes=1)})


ORDER = {"amount": 10_000, "currency": "PHP", "description": "Halo-halo"}


def test_the_guide_lists_what_sweeps_send_across_shards(everything_due: None) -> None:
    found = {}
    for name in [each for each in SWEEPS if each not in NOT_RECORDED]:
        with recorded() as recording:
            run_sweep(name)
        if recording.tables:
            found[name] = recording.tables
    assert found == tables_in_guide("sweep")
