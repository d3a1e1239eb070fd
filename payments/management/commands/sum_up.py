import sys
from typing import Any

import click
from django.core.management.base import BaseCommand

from payments.ledger import account_days
from payments.overview import day_totals


class Command(BaseCommand):
    help = (
        "Computes all daily totals of charges for the admin's overview anew, and those of the ledger for statements "
        "and trial balances. It may run at any time; the sweeps sum up the days that have no totals yet."
    )

    def handle(self, **_: Any) -> None:
        days = day_totals.every_day()
        with click.progressbar(days, label="days", show_pos=True, file=sys.stderr) as bar:
            for day in bar:
                day_totals.sum_up(day)
        account_days.rebuild()
        self.stdout.write(f"Summed up {len(days)} days.")
