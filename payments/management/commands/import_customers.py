from argparse import ArgumentTypeError, FileType
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from hashlib import sha256
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from customers.domain import imported
from customers.domain.imported import REFUSED, Imported
from customers.moving.columns import PLACES, checked
from customers.moving.files import BadRow, rows_of
from payments import clock
from payments.domain.approvals.kinds.merchants import require_approved
from payments.domain.merchants.merchants import MODES
from payments.domain.operators.four_eyes import Refused
from payments.domain.shared.caller import Caller
from payments.embedded.processes import leave_no_core_dump
from payments.management import arguments
from payments.management.progress import counted
from payments.rendering.csv import csv_line
from payments.search.sweep import enter
from payments.vault import VaultUnavailable

# The whole file is in memory until its hash is known.
MAX_BYTES = 100 * 1024 * 1024
HEADS = ("line", "customer_id", "payment_instrument_id", "customer", "source", "result", "reason")


def _pair(text: str) -> tuple[str, str]:
    theirs, _, ours = text.rpartition("=")
    if ours not in PLACES:
        raise ArgumentTypeError(f"give THEIRS=OURS, and for OURS one of {', '.join(PLACES)}")
    return theirs.strip().lower(), ours


class Command(BaseCommand):
    help = (
        "Imports customers with their kept cards from CSV or JSON: gpg --decrypt cards.gpg | import_customers - "
        "--merchant mer_… > result.csv. Each is imported once, however often it is sent. The result says what each "
        "row became here, or why not; some refused end with 1. Live mode takes the approval of two people."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=FileType("rb"), help="the file; - is standard input, where a decrypted one belongs"
        )
        parser.add_argument("--merchant", required=True, help=arguments.MERCHANT_HELP)
        parser.add_argument("--mode", choices=list(MODES), default="test")
        parser.add_argument("--dry-run", action="store_true", help="only checks, and says what two people approve")
        parser.add_argument("--events", action="store_true", help="writes customer.created and its webhooks")
        parser.add_argument("--map", type=_pair, action="append", default=[], metavar="THEIRS=OURS", help="of a column")

    def handle(self, *, file: BinaryIO, mode: str, dry_run: bool, **options: Any) -> None:
        leave_no_core_dump()
        owner, content = arguments.merchant_named(options["merchant"]), file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise CommandError(f"A file has at most {MAX_BYTES >> 20} MiB. Split it.")
        asked = {"rows": sum(1 for _ in rows_of(content)), "digest": sha256(content).hexdigest()}
        about, caller = f"{mode} mode, {asked['rows']} rows, SHA-256 {asked['digest']}", Caller(owner.id, MODES[mode])
        rows = self._read(None if dry_run else caller, content, dict(options["map"]))
        try:
            if MODES[mode] and not dry_run:
                require_approved(owner, asked)
            counts = self._show([rows] if dry_run else imported.store(caller, owner, rows, about, options["events"]))
        except (Refused, VaultUnavailable) as fault:
            raise CommandError(f"{fault}") from None
        self.stderr.write(f"{about}: {', '.join(f'{count} {name}' for name, count in sorted(counts.items()))}")
        if counts[REFUSED]:
            raise CommandError("Rows were refused. The result says why.")

    def _read(self, caller: Caller | None, content: bytes, named: dict[str, str]) -> Iterator[Imported]:
        """Yield each row as it is to be stored; without a caller only whether it can be."""
        moment = clock.now()
        for line, values in counted(rows_of(content), self.stderr):
            try:
                row = checked(values, named)
            except BadRow as refusal:
                yield Imported(line, result=REFUSED, reason=f"{refusal}")
                continue
            made_at = moment + timedelta(microseconds=line)
            yield imported.sealed(caller, line, row, made_at) if caller else Imported(line, row["customer_id"])

    def _show(self, batches: Iterable[Iterable[Imported]]) -> Counter[str]:
        """Write the result, and return how many rows have each; let the search find what is stored."""
        counts: Counter[str] = Counter()
        self.stdout.write(csv_line(HEADS).decode(), ending="")
        for batch in batches:
            for row in batch:
                counts[row.result] += 1
                cells = row.line, row.row_id, row.card_id, row.customer, row.source, row.result, row.reason
                self.stdout.write(csv_line(cells).decode(), ending="")
            enter("customer", [row.customer.id for row in batch if row.customer])
        return counts
