from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments.ids import public_id
from payments.management import arguments
from payments.models import ApiKey


class Command(BaseCommand):
    help = "Lists API keys, masked, each with its state: of one merchant, or of all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", nargs="?", help=f"{arguments.MERCHANT_HELP} (default: all merchants)")

    def handle(self, *, merchant: str | None, **_: Any) -> None:
        keys = ApiKey.objects.select_related("merchant").order_by("merchant_id", "id")
        if merchant is not None:
            keys = keys.filter(merchant=arguments.merchant_named(merchant))
        for key in keys:
            self.stdout.write(f"{public_id('key', key.id)}  {key!s:14}  {arguments.state_of(key):40}  {key.merchant}")
