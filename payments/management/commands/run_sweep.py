from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments.sweeps.table import SWEEPS
from payments.tasks import run_sweep


class Command(BaseCommand):
    help = (
        "Runs a sweep of the worker now and says how much it did. Where that is not 0, more may be due: run it again. "
        "Workers do this by themselves, and may run beside it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", choices=sorted(SWEEPS), help=f"one of {', '.join(sorted(SWEEPS))}")

    def handle(self, *, name: str, **_: Any) -> None:
        done = run_sweep(name)
        self.stdout.write(f"{name}: {done} done.")
