"""Commands that `manage.py` runs before there are any settings."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError


class EarlyCommand(BaseCommand):
    """Lists such a command among the others, with its arguments."""

    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        raise CommandError("Start it with `manage.py`: it decides what the settings read.")
