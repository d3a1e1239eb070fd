from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.management import skeletons


class Command(BaseCommand):
    help = (
        "Lays down the files of a new connector in this checkout, its tests first, and makes them known to the shared "
        "contract suite and to the registry. The suite then shows what is to be written. Nothing that exists is "
        "changed but these two."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what the provider is called in code, such as acme_pay")

    def handle(self, *, name: str, **_: Any) -> None:
        try:
            written = skeletons.lay_down(name, settings.BASE_DIR)
        except skeletons.Refused as fault:
            raise CommandError(str(fault)) from None
        for path in written:
            self.stdout.write(str(path.relative_to(settings.BASE_DIR)))
        self.stdout.write(
            f"\nGo on with payments/providers/CONNECTORS.md, and see what is red:\n"
            f"uv run ruff format && uv run pytest tests/providers/contract -n 0 -k {name}"
        )
