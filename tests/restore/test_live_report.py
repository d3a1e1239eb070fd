"""After a restore, what Adyen did since is read from its report, for it lists nothing when asked."""

import io
from datetime import datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, ReconciliationItem
from tests.provider_events.live.world import adyen_world
from tests.reconciliation.live.reports import report
from tests.restore.command import on, recovered
from tests.restore.restored import lost
from tests.restore.test_live_records import card

pytestmark = pytest.mark.django_db


def read_in(folder: Path, since: datetime, *rows: dict[str, str]) -> None:
    """Reconcile Adyen's settlement details report with these rows, as the guide has it."""
    times = ["--from", clock.iso(since), "--to", clock.iso(clock.now())]
    call_command("reconcile", str(report(folder, "adyen", *rows)), "--mapping", "adyen", *times, stdout=io.StringIO())


@pytest.mark.long
def test_what_adyen_did_is_left_to_operators_until_its_report_is_read_and_then_as_items(
    shop: NewMerchant, tmp_path: Path
) -> None:
    with adyen_world(shop) as world, override_settings(RECONCILIATION_MARGIN_MINUTES=0):
        charge = card(world)
        world.happen()
        with lost() as moment:
            card(world)
            lost_payment = world.payment.reference
            world.happen()
            on(world.live, charge, "refund", {"amount": 4_000})
            lost_refund = Attempt.objects.get(kind="refund").reference
        unread = "adyen: it lists nothing when asked, and its settlement details report of this time is not read"
        output = recovered(moment, ends_with=1)
        assert unread in output
        assert "booked" not in output
        booked = {"Creation Date": f"{clock.now():%Y-%m-%d %H:%M:%S}", "TimeZone": "UTC"}
        paid = booked | {"Merchant Reference": lost_payment}
        back = {"Type": "Refunded", "Gross Credit (GC)": "", "Gross Debit (GC)": "40.00"}
        refunded = booked | back | {"Modification Merchant Reference": f"refund-{lost_refund}"}
        with pytest.raises(CommandError, match="Open differences: 2"):
            read_in(tmp_path, moment, paid, refunded)
        assert "adyen, “Not in ledger”: 2, under Reconciliation items" in recovered(moment, ends_with=1)
        assert world.live.read(charge)["amount_refunded"] == 0
    lines = [item.line for item in ReconciliationItem.objects.all()]
    assert {(line.reference, line.amount) for line in lines if line} == {(lost_payment, 10_000), (lost_refund, -4_000)}
