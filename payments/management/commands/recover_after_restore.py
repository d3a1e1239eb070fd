from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments import clock
from payments.domain.reconciliation import runs
from payments.domain.restore import recover
from payments.management import arguments
from payments.management.tables import in_columns

FAULT = 2
PAYOUTS = "Payouts: no bank can be asked. Hold the bank's statement against the payouts before the next file is sent."


class Command(BaseCommand):
    help = (
        "After the database was restored to a moment in the past, asks the providers what happened since, and books "
        "it or leaves it to operators. Run it before web servers and workers start, and as often as needed: nothing "
        "is booked twice. Exits with 0 if nothing is left, 1 while something is left to operators, and 2 if it could "
        "not run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--since", type=arguments.moment, required=True, metavar="MOMENT", help="the moment of the restore"
        )
        parser.add_argument(
            "--until", type=arguments.moment, metavar="MOMENT", help="the end of the lost time (default: now)"
        )

    def handle(self, *args: Any, since: datetime, until: datetime | None, **options: Any) -> None:
        until = min(until or clock.now(), clock.now())
        if since >= until:
            raise CommandError("The moment of the restore must be before now and before --until.", returncode=FAULT)
        try:
            summary = recover.recover(since, until, self.stderr.write)
        except runs.Busy:
            message = "A reconciliation is under way: run this again when it has ended."
            raise CommandError(message, returncode=FAULT) from None
        facts = [
            ("unused cards closed", summary.closed_sources),
            ("operations looked up", summary.looked_up),
            *((f"booked: {what}", count) for what, count in sorted(summary.booked.items())),
        ]
        self.stdout.write("\n".join(in_columns(facts)))
        self.stdout.write(PAYOUTS)
        if summary.left:
            raise CommandError("Left to operators: " + "; ".join(summary.left) + ".", returncode=1)
