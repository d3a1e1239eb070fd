from django.core.management.base import CommandParser

from config.management.early import EarlyCommand
from config.quickstart.options import DESCRIPTION, add_arguments


class Command(EarlyCommand):
    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
