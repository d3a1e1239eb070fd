from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand

from payments import clock
from payments.domain import settlement
from payments.ids import public_id
from payments.ledger.totals import totals_of
from payments.management.tables import in_columns
from payments.models import Settlement
from payments.money import format_amount

HEADINGS = ("SETTLEMENT", "MERCHANT", "MODE", "CHARGES", "GROSS", "REFUNDS", "FEES", "NET")


class Command(BaseCommand):
    help = (
        "Settles the charges of past days: their money becomes available to merchants, and they can be refunded but "
        "not voided any more. Shows the day's settlements. The worker does this every minute."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        today, total, due = clock.now().date(), 0, settlement.count_due()
        while settled := settlement.settle_due():
            total += settled
            self.stderr.write(f"Settled {total} of {max(total, due)} charges.")
        self.stdout.write(f"Settled {total} charges. The settlements of {today}:\n")
        rows = Settlement.objects.filter(day__gte=today).select_related("merchant").order_by("id")
        self.stdout.write("\n".join(in_columns([HEADINGS, *_cells(list(rows))])))


def _cells(settlements: Sequence[Settlement]) -> list[tuple[object, ...]]:
    totals = totals_of(settlements)
    return [
        (
            public_id("set", row.id),
            row.merchant.title,
            "live" if row.livemode else "test",
            totals[row.id].charges,
            *(format_amount(amount, row.currency) for amount in totals[row.id].amounts),
        )
        for row in settlements
    ]
