import hashlib
import subprocess  # nosec B404 # GnuPG, never a shell
from argparse import FileType
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from customers.moving.columns import lines_of
from payments.domain.approvals.kinds.merchants import require_approved
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.merchants.merchants import MODES
from payments.domain.operators.four_eyes import Refused
from payments.domain.shared.caller import Caller
from payments.embedded.processes import leave_no_core_dump
from payments.management import arguments
from payments.management.progress import counted
from payments.vault import VaultError, VaultUnavailable

GPG = ("gpg", "--batch", "--quiet", "--no-options", "--no-autostart", "--homedir")


class Command(BaseCommand):
    help = (
        "Writes customers with their kept cards to standard output, as import_customers reads them, and encrypted by "
        "GnuPG: export_customers --merchant mer_… --recipient KEYFILE > cards.gpg. In live mode two people approve the "
        "key first, unless the cards stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--merchant", required=True, help=arguments.MERCHANT_HELP)
        parser.add_argument("--mode", choices=list(MODES), default="test")
        parser.add_argument("--recipient", type=FileType("rb"), metavar="KEYFILE", help="whose public key encrypts it")
        parser.add_argument("--no-cards", action="store_true", help="customers alone; without --recipient in the clear")

    def handle(self, *, recipient: BinaryIO | None, no_cards: bool, **options: Any) -> None:
        leave_no_core_dump()
        if not recipient and not no_cards:
            raise CommandError("Cards leave encrypted only: give --recipient, or --no-cards.")
        # The account's own keys and options of GnuPG play no part.
        with TemporaryDirectory(prefix="kaha-gpg-") as folder:
            key = Path(folder, "recipient")
            key.write_bytes(recipient.read() if recipient else b"")
            try:
                self._export([*GPG, folder], key if recipient else None, with_cards=not no_cards, **options)
            except FileNotFoundError:
                raise CommandError("GnuPG encrypts cards. Install it: its package is gnupg.") from None
            except (Refused, VaultError, VaultUnavailable, OSError) as fault:
                raise CommandError(f"{fault}") from None

    def _export(
        self, gpg: list[str], key: Path | None, *, merchant: str, mode: str, with_cards: bool, **_: Any
    ) -> None:
        owner, fingerprint = arguments.merchant_named(merchant), _fingerprint(gpg, key) if key else ""
        if MODES[mode] and with_cards:
            require_approved(owner, {"digest": fingerprint})
        whom = f"for the key {fingerprint}" if key else "in the clear"
        about = f"customers {'with their' if with_cards else 'without'} cards, {mode} mode, {whom}"
        # Before the first line, because what is written can be read even if the rest fails.
        audit_log.record(Action.EXPORTED, owner, detail=about, notice_of=owner.id)
        command = [*gpg, "--recipient-file", f"{key}", "--encrypt"] if key else ["cat"]  # to our standard output
        count, seen = -1, hashlib.sha256()
        with subprocess.Popen(command, stdin=subprocess.PIPE) as program:  # nosec B603
            assert program.stdin  # nosec B101 # it is piped
            try:
                for line in counted(lines_of(Caller(owner.id, MODES[mode]), with_cards=with_cards), self.stderr):
                    program.stdin.write(line)
                    seen.update(line)
                    count += 1
            except BaseException:
                # Else it would end the file as if that were whole.
                program.kill()
                with suppress(OSError):
                    program.stdin.close()
                raise
        if program.returncode:
            raise CommandError("GnuPG did not encrypt all of it.")
        audit_log.record(Action.EXPORTED, owner, detail=(said := f"{about}: {count} rows, SHA-256 {seen.hexdigest()}"))
        self.stderr.write(said)


def _fingerprint(gpg: list[str], key: Path) -> str:
    shown = subprocess.run([*gpg, "--with-colons", "--show-keys", f"{key}"], capture_output=True, text=True)  # nosec B603
    lines = [line.split(":") for line in shown.stdout.splitlines()]
    if [kind for kind, *_ in lines].count("pub") != 1:
        raise CommandError("The file must have one public key of GnuPG.")
    return next(line[9] for line in lines if line[0] == "fpr")
