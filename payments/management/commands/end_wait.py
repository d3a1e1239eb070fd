"""Ends the wait of somebody with new rights before they approve."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.staff.roles import end_wait


class Command(BaseCommand):
    help = "Have a person with new rights approve from now on, such as the second administrator of a new installation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")

    def handle(self, *, name: str, **_: Any) -> None:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError("Nobody has this sign-in name.")
        end_wait(user)
        self.stdout.write(f"{name} approves from now on.")
