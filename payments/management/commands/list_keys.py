from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments.ids import public_id
from payments.management import arguments
from payments.management.tables import NOTHING, in_columns, utc
from payments.models import ApiKey

HEADINGS = ("ID", "KEY", "STATE", "LAST USED", "RIGHTS", "WORKS FROM", "MERCHANT")


class Command(BaseCommand):
    help = "Lists API keys, masked, each with its state, limits and last use: of one merchant, or of all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", nargs="?", help=f"{arguments.MERCHANT_HELP} (default: all merchants)")

    def handle(self, *, merchant: str | None, **_: Any) -> None:
        keys = ApiKey.objects.select_related("merchant").order_by("merchant_id", "id")
        if merchant is not None:
            keys = keys.filter(merchant=arguments.merchant_named(merchant))
        self.stdout.write("\n".join(in_columns([HEADINGS, *map(_cells, keys)])))


def _cells(key: ApiKey) -> tuple[object, ...]:
    rights = ",".join(key.rights) or NOTHING
    networks = ",".join(key.allowed_networks) or "everywhere"
    return (
        *(public_id("key", key.id), key, arguments.state_of(key), utc(key.last_used_at)),
        *(rights, networks, key.merchant),
    )
