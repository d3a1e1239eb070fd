from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments.domain.merchants import api_keys
from payments.management import arguments


class Command(BaseCommand):
    help = "Ends an API key at once, everywhere. There is no way back: create a new key instead."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help=arguments.KEY_HELP)

    def handle(self, *, key: str, **_: Any) -> None:
        found = arguments.key_named(key)
        note = "" if api_keys.revoke_key(found) else ", before this"
        found.refresh_from_db()
        self.stdout.write(f"{found} of {found.merchant}: {arguments.state_of(found)}{note}")
