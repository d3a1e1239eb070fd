import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.transparency import export
from payments.management.progress import counted


class Command(BaseCommand):
    help = "Writes the whole ledger with its places in the transparency log to a file, which kaha-verify checks."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="where to write; a new file")

    def handle(self, *, file: Path, **_: Any) -> None:
        with open(file, "x", opener=_open_for_owner) as output:
            # Before the first line, because what is written can be read even if the rest fails.
            audit_log.record(Action.EXPORTED, detail="the books, for an auditor")
            output.writelines(counted(export.lines(), self.stderr))
        self.stdout.write(f"Wrote {file}.")


def _open_for_owner(file: str, flags: int) -> int:
    return os.open(file, flags, mode=0o600)
