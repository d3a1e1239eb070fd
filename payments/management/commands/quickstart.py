from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.quickstart.command import DESCRIPTION, add_arguments


class Command(BaseCommand):
    """Lists the quickstart among the commands; `manage.py` runs it before the settings are loaded."""

    help = DESCRIPTION
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        raise CommandError("Start it with `manage.py`, because it sets what the settings read.")
