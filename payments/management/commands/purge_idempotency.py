from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from payments.domain import idempotency


class Command(BaseCommand):
    help = "Deletes the idempotency keys that were answered more than IDEMPOTENCY_KEEP_DAYS ago."

    def handle(self, *args: Any, **options: Any) -> None:
        deleted = idempotency.purge()
        self.stdout.write(f"Deleted {deleted} keys older than {settings.IDEMPOTENCY_KEEP_DAYS} days.")
