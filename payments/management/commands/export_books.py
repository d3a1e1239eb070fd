from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.transparency import export


class Command(BaseCommand):
    help = "Writes the whole ledger with its places in the transparency log to a file, which kaha-verify checks."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="where to write; a new file")

    def handle(self, *, file: Path, **_: Any) -> None:
        with file.open("x") as output:
            for line in export.lines():
                output.write(line)
        audit_log.record(Action.EXPORTED, detail="the books, for an auditor")
        self.stdout.write(f"Wrote {file}.")
