from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.merchants import terms
from payments.ledger.fees import BadRate, Rate
from payments.management import arguments
from payments.money import format_amount


class Command(BaseCommand):
    help = "Sets what charges of a merchant cost it from now on; those made before keep their rate."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
        parser.add_argument("type", help="the source type, such as card")
        parser.add_argument("currency", help="the ISO 4217 code, such as PHP")
        parser.add_argument("--basis-points", type=int, metavar="N", help="a share of the amount: 350 is 3.5 %%")
        parser.add_argument("--fixed", type=int, metavar="N", help="an amount in the currency's smallest unit")
        parser.add_argument("--remove", action="store_true", help="such charges cost nothing any more")

    def handle(self, **options: Any) -> None:
        of = arguments.merchant_named(options["merchant"]), options["type"], options["currency"]
        rate = {name: options[name] for name in ("basis_points", "fixed") if options[name] is not None}
        if bool(rate) == options["remove"]:
            raise CommandError("Give --basis-points, --fixed or both, or --remove alone.")
        try:
            if rate:
                terms.set_fee(*of, Rate(**rate))
            else:
                terms.remove_fee(*of)
        except (terms.BadTerms, BadRate) as fault:
            raise CommandError(str(fault)) from None
        self.stdout.write(_said(*of[1:], Rate(**rate)))


def _said(source_type: str, currency: str, rate: Rate) -> str:
    fixed = format_amount(rate.fixed, currency)
    return f"From now on a charge on {source_type} costs {rate.basis_points} basis points and {fixed}."
