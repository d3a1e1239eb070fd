import argparse
import sys
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.invariants import checks
from payments.invariants.checks import Finding
from payments.invariants.invariant import Invariant
from payments.invariants.registry import INVARIANTS
from payments.management import arguments
from payments.management.tables import in_columns


class Command(BaseCommand):
    help = (
        "Checks every invariant of the money with one query each, in one read-only snapshot without locks. Exits with "
        "status 1 if one does not hold. The worker does this daily."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = "\n".join(in_columns([(each.name, each.sentence) for each in INVARIANTS]))
        parser.add_argument("--merchant", help=f"check only this merchant's objects: {arguments.MERCHANT_HELP}")
        parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="only these of the invariants below")

    def handle(self, *, merchant: str | None, only: Sequence[str], **options: Any) -> None:
        chosen = _chosen(only, of_one_merchant=merchant is not None)
        of_merchant = arguments.merchant_named(merchant) if merchant else None
        findings: list[Finding] = []

        def starting(invariant: Invariant) -> None:
            self.stdout.write(f"{len(findings) + 1:2}/{len(chosen)}  {invariant.name:34}", ending="")
            self.stdout.flush()

        def done(finding: Finding) -> None:
            findings.append(finding)
            self.stdout.write(f"{finding.seconds:8.2f} s  {f'{finding.count} offend' if finding.count else 'holds'}")

        check = checks.run(chosen, of_merchant, starting, done)
        failed = [finding for finding in findings if finding.count]
        self.stdout.write("\n".join(_report(failed, len(chosen), check.seconds or 0)))
        if failed:
            sys.exit(1)


def _chosen(only: Sequence[str], *, of_one_merchant: bool) -> list[Invariant]:
    """Return the invariants to check; raise CommandError for an unknown name."""
    unknown = set(only) - {each.name for each in INVARIANTS}
    if unknown:
        raise CommandError(f"No invariant: {', '.join(sorted(unknown))}. --help lists them.")
    chosen = [each for each in INVARIANTS if each.of_merchants or not of_one_merchant]
    return [each for each in chosen if not only or each.name in only]


def _report(failed: Sequence[Finding], looked_at: int, seconds: float) -> list[str]:
    lines = ["", f"{looked_at - len(failed)} of {looked_at} hold, in {seconds:.1f} s."]
    for finding in failed:
        more = finding.count - len(finding.ids)
        ids = [*finding.ids, *([f"and {more} more"] if more else [])]
        lines += ["", f"{finding.invariant.name}: {finding.count} offend", finding.invariant.sentence]
        lines += [f"  {text}" for text in ids]
    return lines
