from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.merchants import api_keys
from payments.management import arguments


class Command(BaseCommand):
    help = "Replaces an API key: shows a new one, and lets the old one work for a while longer."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help=arguments.KEY_HELP)
        parser.add_argument(
            "--overlap",
            type=arguments.duration,
            default=timedelta(hours=24),
            metavar="24h",
            help="how long the old key goes on working (default: 24h); an earlier end that it has stays",
        )

    def handle(self, *, key: str, overlap: timedelta, **_: Any) -> None:
        old = arguments.key_named(key)
        try:
            new, text = api_keys.roll_key(old, overlap)
        except api_keys.KeyIsOver as fault:
            raise CommandError(str(fault)) from None
        old.refresh_from_db()
        self.stdout.write(arguments.new_key_text(new, text))
        self.stdout.write(f"{'old key':12}{old} {arguments.state_of(old)}")
