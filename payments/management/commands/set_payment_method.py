from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.merchants import terms
from payments.domain.merchants.merchants import MODES
from payments.management import arguments


class Command(BaseCommand):
    help = "Switches a source type on or off for a merchant's new sources; those made before can still be charged."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
        parser.add_argument("type", help="the source type, such as gcash")
        parser.add_argument("state", choices=["on", "off"])
        parser.add_argument("--mode", choices=list(MODES), help="only in this mode (default: in both)")

    def handle(self, *, merchant: str, state: str, mode: str | None, **options: Any) -> None:
        livemode = MODES[mode] if mode else None
        try:
            terms.set_payment_method(arguments.merchant_named(merchant), options["type"], state == "on", livemode)
        except terms.BadTerms as fault:
            raise CommandError(str(fault)) from None
        where = f" in {mode} mode" if mode else ""
        self.stdout.write(f"{options['type']} is {state}{where}.")
