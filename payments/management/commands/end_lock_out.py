"""Ends a lock-out from the admin before its half hour is over."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments.staff.sign_in import lockout


class Command(BaseCommand):
    help = "End the lock-out of a user or an address: end_lock_out ana, end_lock_out 198.51.100.7."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name_or_address")

    def handle(self, *, name_or_address: str, **_: Any) -> None:
        ended = lockout.end(name_or_address)
        self.stdout.write("Ended." if ended else "Nobody of this name and no such address failed to sign in.")
