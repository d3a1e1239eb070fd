from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments import clock
from payments.domain import merchants
from payments.management import arguments


class Command(BaseCommand):
    help = "Creates one more API key of a merchant and shows it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
        parser.add_argument("--mode", required=True, choices=["test", "live"])
        parser.add_argument("--kind", required=True, choices=["secret", "publishable"])
        parser.add_argument(
            "--expires-in",
            type=arguments.duration,
            metavar="30d",
            help="when it stops working (default: never)",
        )

    def handle(self, *, merchant: str, mode: str, kind: str, expires_in: timedelta | None, **_: Any) -> None:
        owner = arguments.merchant_named(merchant)
        expires_at = clock.now() + expires_in if expires_in is not None else None
        key, text = merchants.create_key(owner, merchants.MODES[mode], kind, expires_at)
        self.stdout.write(arguments.new_key_text(key, text))
