from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.risk import decline_limits
from payments.management import arguments


class Command(BaseCommand):
    help = (
        "Sets how many charges on cards of a merchant may be declined in a window, in each mode, before more of them "
        "are refused; its keys and addresses keep their shares of it. Holds from the next charge on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
        parser.add_argument("budget", nargs="?", type=int, metavar="N", help="the number of declines, 1 or more")
        parser.add_argument("--usual", action="store_true", help="as many as DECLINE_LIMITS says")

    def handle(self, *, merchant: str, budget: int | None, usual: bool, **options: Any) -> None:
        if (budget is None) != usual:
            raise CommandError("Give a number, or --usual alone.")
        try:
            decline_limits.set_budget(arguments.merchant_named(merchant), budget)
        except decline_limits.BadBudget as fault:
            raise CommandError(str(fault)) from None
        borne = "the usual number of" if budget is None else budget
        self.stdout.write(f"From now on {borne} declines are borne in {settings.DECLINE_WINDOW_MINUTES} minutes.")
