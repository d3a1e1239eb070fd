from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from payments import clock
from payments.domain.merchants import merchants
from payments.management import arguments
from payments.models import Merchant, NotifySecret


class Command(BaseCommand):
    help = "Replaces the secrets that sign a merchant's callbacks: shows new ones, and lets the old ones sign along."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
        parser.add_argument("--mode", choices=list(merchants.MODES), help="only the secret of this mode")
        parser.add_argument(
            "--overlap",
            type=arguments.duration,
            default=timedelta(hours=24),
            metavar="24h",
            help="how long an old secret signs too (default: 24h); an earlier end that it has stays",
        )

    def handle(self, *, merchant: str, mode: str | None, overlap: timedelta, **_: Any) -> None:
        owner = arguments.merchant_named(merchant)
        for name in [mode] if mode else merchants.MODES:
            text = merchants.roll_notify_secret(owner, merchants.MODES[name], overlap)
            self.stdout.write("\n".join([f"{f'whsec_{name}':12}{text}", *_old_ones(owner, merchants.MODES[name])]))
        self.stdout.write("\nKeep what is new now: it is shown only this once.")


def _old_ones(merchant: Merchant, livemode: bool) -> list[str]:
    working = NotifySecret.objects.filter(merchant=merchant, livemode=livemode, expires_at__gt=clock.now())
    ends = working.order_by("-id").values_list("expires_at", flat=True)
    return [f"{'older one':12}signs too until {clock.iso(end)}" for end in ends if end]
