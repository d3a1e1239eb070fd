from typing import Any

from django.core.management.base import BaseCommand

from payments import described


class Command(BaseCommand):
    """Lists it among the commands; `manage.py` runs it without settings, and in place of Django's own."""

    help = "Shows the version of kaha, and those of Django and Python."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(described())
