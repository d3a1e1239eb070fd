import json
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments import clock
from payments.concurrency.bounded_process import HostBusy
from payments.domain.reconciliation import file_layouts, files, runs
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.layouts import MAPPINGS
from payments.domain.reconciliation.runs import SettlementReport
from payments.management import arguments
from payments.management.progress import counted
from payments.management.tables import in_columns, utc
from payments.models import OwnBankAccount, ReconciliationItem, ReconciliationRun
from payments.providers.registry import PROVIDER_NAMES, PROVIDERS

FAULT = 2
COUNTS = ("lines", "new_lines", "matched", "under_way", "new_items", "differences")


class Command(BaseCommand):
    help = (
        "Reconciles a provider's settlement report, or a statement of our bank, with the ledger. Each difference "
        "becomes an item that operators close in the admin with a note. Nothing is corrected. Exits with 0 if all "
        "matches, 1 while differences are open, and 2 if the file cannot be read; then nothing of it is imported."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        report = parser.add_mutually_exclusive_group(required=True)
        report.add_argument("file", nargs="?", type=Path, help="the report or statement; CSV and Xlsx by a layout")
        report.add_argument("--provider", choices=list(PROVIDERS), help="fetches the report from the provider")
        parser.add_argument("--mapping", choices=PROVIDER_NAMES, help="of which provider the file is")
        parser.add_argument(
            "--bank-account",
            metavar="NAME",
            help="of which account of ours the file is, in camt.053, .052, .054 or MT940, or by its layout",
        )
        parser.add_argument("--json", action="store_true", help="prints the counts as JSON")
        parser.add_argument(
            "--from",
            dest="since",
            type=arguments.moment,
            metavar="DATE",
            help="the beginning of the time that the report covers, such as 2026-11-20 (default: the first day of the "
            "file, no time for a provider whose files never cover a whole day, or the end of the last report)",
        )
        parser.add_argument("--to", dest="until", type=arguments.moment, metavar="DATE", help="the end of that time")
        parser.add_argument("--export", type=Path, metavar="FILE", help="only writes the provider's report as CSV")

    def handle(self, *, export: Path | None, **options: Any) -> None:
        if bool(options["file"]) != (bool(options["mapping"]) + bool(options["bank_account"])):
            text = "A file needs its --mapping or its --bank-account, and nothing else has one."
            raise CommandError(text, returncode=FAULT)
        if export and options["provider"] not in MAPPINGS:
            raise CommandError("Only a provider that has a mapping is exported.", returncode=FAULT)
        try:
            if export:
                self._export(export, options["provider"], options["since"], options["until"])
                return
            run = runs.reconcile(self._report(options), ReconciliationRun.Origin.COMMAND, self._progress)
        except BadReport as fault:
            raise CommandError(f"{options['file'] or options['provider']}: {fault}.", returncode=FAULT) from None
        except HostBusy as busy:
            raise CommandError(f"{options['file']}: {busy}. Run it again.", returncode=FAULT) from None
        except runs.Busy:
            raise CommandError("Another run of this provider is under way.", returncode=FAULT) from None
        counts = {name: getattr(run, name) for name in COUNTS}
        self.stdout.write(json.dumps(counts) if options["json"] else "\n".join(in_columns(_facts(run))))
        if run.differences:
            raise CommandError(f"Open differences: {sum(run.differences.values())}.", returncode=1)

    def _export(self, path: Path, provider: str, since: datetime | None, until: datetime | None) -> None:
        lines = runs.provider_lines(provider, since, until or clock.now())
        try:
            with path.open("x", encoding="utf-8", newline="") as file:
                count = files.write(counted(lines, self.stderr), MAPPINGS[provider], file)
        except OSError as fault:
            raise CommandError(f"{path}: {fault.strerror}.", returncode=FAULT) from None
        self.stdout.write(f"{count} lines written to {path}.")

    def _report(self, options: dict[str, Any]) -> SettlementReport:
        path: Path | None = options["file"]
        if not path:
            return runs.provider_report(options["provider"], options["since"], options["until"])
        account = options["mapping"] or options["bank_account"]
        if not options["mapping"] and not OwnBankAccount.objects.filter(name=account).exists():
            raise CommandError("There is no bank account of this name.", returncode=FAULT)
        taken = file_layouts.take(files.content(path), account)
        return taken.report(path.name, options["since"], options["until"])

    def _progress(self, done: int, of: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done:,} of {of:,} lines", ending="\n" if done == of else "")


def _facts(run: ReconciliationRun) -> list[tuple[str, object]]:
    kinds = ReconciliationItem.Kind
    return [
        ("report of", f"{run.provider}{run.file and f', {run.file}'}"),
        *([("layout", run.layout)] if run.layout else []),
        ("covers", f"{utc(run.covers_from)} to {utc(run.covers_to)}"),
        ("lines", f"{run.lines}, {run.new_lines} of them new"),
        ("matched", run.matched),
        ("under way", run.under_way),
        *((kind.label.lower(), run.differences.get(kind, 0)) for kind in kinds),
        ("new items", run.new_items),
    ]
