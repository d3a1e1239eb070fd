from django.core.management.base import CommandParser

from payments.management.early import EarlyCommand
from payments.quickstart.command import DESCRIPTION, add_arguments


class Command(EarlyCommand):
    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
