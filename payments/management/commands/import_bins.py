from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.cards import bin_file


class Command(BaseCommand):
    help = (
        "Imports the issuers of cards by their first digits (BIN), from a CSV file with the columns "
        f"{','.join(bin_file.COLUMNS)}. New entries are added, known ones changed, none removed. "
        "The whole file is checked before anything changes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the CSV file, in UTF-8")

    def handle(self, *, file: Path, **_: Any) -> None:
        try:
            with file.open(encoding="utf-8-sig", newline="") as lines:
                entries = bin_file.read(lines)
        except OSError as fault:
            raise CommandError(f"{file} cannot be read: {fault.strerror}") from None
        except UnicodeDecodeError:
            raise CommandError(f"{file} cannot be read: it is not UTF-8") from None
        except bin_file.BadLine as fault:
            raise CommandError(f"{file}, {fault}") from None
        counts = bin_file.store(entries)
        self.stdout.write(f"{counts.added} added, {counts.changed} changed, {counts.unchanged} unchanged.")
