from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments import clock
from payments.domain.merchants import api_keys, merchants
from payments.domain.merchants.scopes import RIGHTS
from payments.management import arguments
from payments.models import ApiKey


class Command(BaseCommand):
    help = "Creates one more API key of a merchant and shows it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
        parser.add_argument("--mode", required=True, choices=list(merchants.MODES))
        parser.add_argument("--kind", required=True, choices=ApiKey.Kind.values)
        parser.add_argument(
            "--rights",
            type=arguments.words,
            default=[],
            metavar="charges:read,refunds:write",
            help=f"what a restricted key may do: any of {', '.join(RIGHTS)}",
        )
        parser.add_argument(
            "--allow",
            type=arguments.words,
            default=[],
            metavar="10.0.0.0/8,2001:db8::/32",
            help="the networks that it works from (default: everywhere)",
        )
        parser.add_argument(
            "--expires", type=arguments.duration, metavar="30d", help="when it stops working (default: never)"
        )

    def handle(self, *, merchant: str, mode: str, kind: str, expires: timedelta | None, **limits: Any) -> None:
        owner = arguments.merchant_named(merchant)
        end = clock.now() + expires if expires is not None else None
        try:
            made = api_keys.create_key(owner, merchants.MODES[mode], kind, end, limits["rights"], limits["allow"])
        except api_keys.BadKey as fault:
            raise CommandError(str(fault)) from None
        self.stdout.write(arguments.new_key_text(*made))
