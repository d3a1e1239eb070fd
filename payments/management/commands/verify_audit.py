import argparse
import re
import sys
from typing import Any

import click
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.audit import hash_chain
from payments.domain.audit.hash_chain import Broken
from payments.models.operators.audit import GENESIS

HASH = re.compile(r"[0-9a-f]{64}")


class Command(BaseCommand):
    help = (
        "Verifies the hash chain of the audit log while the service runs. Exits with status 1 and names the first "
        "entry that is missing or changed. A superuser of the database could rewrite the whole log: only a hash that "
        "was kept elsewhere detects that."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--head", action="store_true", help="print only the last hash, to be kept elsewhere")
        parser.add_argument("--expect", type=_hash, metavar="HASH", help="a hash kept earlier, which the log must have")

    def handle(self, *, head: bool, expect: bytes | None, **_: Any) -> None:
        hashes, steps, count = [GENESIS], hash_chain.verified_hashes(), hash_chain.count()
        try:
            with click.progressbar(steps, count, "audit log", show_pos=True, file=sys.stderr) as bar:
                hashes += bar
        except Broken as fault:
            raise CommandError(str(fault)) from None
        if expect and expect not in hashes:
            raise CommandError("No entry has the expected hash: the log was cut or written anew since that was kept.")
        last = hashes[-1].hex()
        self.stdout.write(last if head else f"{len(hashes) - 1:,} entries hold. The last one's hash: {last}")


def _hash(text: str) -> bytes:
    """Return a SHA-256 in hex digits, for argparse."""
    if not HASH.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a hash of 64 hex digits as --head prints it")
    return bytes.fromhex(text)
