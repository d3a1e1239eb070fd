from typing import Any

from django.core.management.base import BaseCommand

from payments.domain.charging import recovery


class Command(BaseCommand):
    help = (
        "Looks up at the providers every due attempt whose outcome is unknown or that was given up, and records the "
        "outcome. The worker does this every two seconds; run it by hand if no worker runs."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        total = 0
        while looked_up := recovery.resolve_due():
            total += looked_up
        waiting = recovery.unresolved()
        self.stdout.write(f"Looked up {total}; {waiting} still without an outcome.")
