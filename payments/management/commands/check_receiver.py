from argparse import FileType
from base64 import b64decode
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.merchants import merchants
from payments.domain.webhooks import receiver_check
from payments.domain.webhooks.receiver_check import TrialFinding
from payments.management import arguments
from payments.management.tables import one_line
from payments.models import Merchant
from payments.sensitive_data.redaction import readable
from payments.webhooks.transport.results import Failure
from payments.webhooks.transport.urls import ForbiddenUrl, check_url

PREFIX = "whsec_"


class Command(BaseCommand):
    help = (
        "Sends a webhook receiver six test events about charges that do not exist: a valid one, the same again, two in "
        "the wrong order, a forged one and an old one. Shows which it handled properly and how fast. Exits with status "
        "0 if it handled all of them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", help="the receiver's URL, as in redirect.notify of a source")
        signer = parser.add_mutually_exclusive_group()
        signer.add_argument("--merchant", help=f"whose secret signs: {arguments.MERCHANT_HELP} (default: the only one)")
        # Never the secret itself, because every user of a machine sees the arguments of its processes.
        about = "a file with the secret that signs (whsec_…); - reads it from standard input"
        signer.add_argument("--secret-file", type=FileType(), metavar="FILE", help=about)
        parser.add_argument(
            "--mode",
            choices=list(merchants.MODES),
            default="test",
            help="whose secret of the merchant, and which rules for addresses (default: test)",
        )

    def handle(self, *, url: str, merchant: str | None, secret_file: TextIO | None, mode: str, **_: Any) -> None:
        livemode = merchants.MODES[mode]
        try:
            check_url(url, livemode)
        except ForbiddenUrl as fault:
            raise CommandError(f"kaha would not call this URL. {fault}") from None
        secrets = [_given(secret_file)] if secret_file else _secrets_of(merchant, livemode)
        found = [self._show(finding) for finding in receiver_check.check(url, livemode, secrets)]
        proper, slowest = sum(finding.is_proper for finding in found), max(f.result.milliseconds for f in found)
        summary = f"{proper} of {len(found)} handled properly, the slowest in {slowest} ms."
        if proper < len(found):
            raise CommandError(summary)
        self.stdout.write(f"{summary}\nCheck in the receiver whether the repeated event was handled once.")

    def _show(self, finding: TrialFinding) -> TrialFinding:
        result = "proper" if finding.is_proper else f"WRONG: {_wanted(finding)}"
        answer = finding.result.kind if isinstance(finding.result, Failure) else finding.result.status
        cells = (f"{finding.call.name:42}", f"{answer:>18}", f"{finding.result.milliseconds:>6} ms", result)
        self.stdout.write("  ".join(cells))
        return finding


def _wanted(finding: TrialFinding) -> str:
    wanted = "it must be answered 2xx" if finding.call.to_be_taken else "it must be refused, with 401 say"
    detail = finding.result.reason if isinstance(finding.result, Failure) else readable(finding.result.kept_bytes)
    return f"{wanted} ({one_line(detail)})" if detail.strip() else wanted


def _given(file: TextIO) -> str:
    secret = file.readline().strip()
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        key = b""
    if not (key and secret.startswith(PREFIX)):
        # Not shown, because it may be a mistyped secret.
        raise CommandError("A secret is whsec_ and base64.")
    return secret


def _secrets_of(name: str | None, livemode: bool) -> list[str]:
    owners = [arguments.merchant_named(name)] if name else Merchant.objects.order_by("id")[:2]
    if len(owners) != 1:
        raise CommandError("Say whose secret signs, by --merchant or --secret-file.")
    merchant = owners[0]
    found = merchants.valid_webhook_secrets(merchant, livemode)
    if not found:
        raise CommandError(f"{merchant} has no secret in this mode; merchant roll-secret makes one.")
    return found
