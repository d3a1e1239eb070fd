import sys
from typing import Any

import click
from django.core.management.base import BaseCommand, CommandParser

from payments.ledger import account_days
from payments.overview import day_totals


class Command(BaseCommand):
    help = (
        "Computes the daily totals of charges for the admin's overview, and those of the ledger for statements and "
        "trial balances, as the worker does. It may run at any time: each day is computed anew."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rebuild", action="store_true", help="every day, also those that have totals")

    def handle(self, *, rebuild: bool, **options: Any) -> None:
        days = day_totals.every_day() if rebuild else day_totals.due_days()
        with click.progressbar(days, label="days", show_pos=True, file=sys.stderr) as bar:
            for day in bar:
                day_totals.sum_up(day)
        if rebuild:
            account_days.rebuild()
        else:
            account_days.sum_up_due()
        self.stdout.write(f"Summed up {len(days)} days.")
