from django.core.management.base import CommandParser

from config.benchmark.options import DESCRIPTION, add_arguments
from payments.management.early import EarlyCommand


class Command(EarlyCommand):
    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
