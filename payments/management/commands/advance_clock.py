import argparse
import re
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.maintenance import test_clock
from payments.domain.maintenance.test_clock import LONGEST_SECONDS, ProcessedCounts
from payments.domain.shared.caller import Caller
from payments.management import arguments
from payments.management.tables import in_columns

SECONDS = re.compile("[0-9]{1,9}")
LONGEST = timedelta(seconds=LONGEST_SECONDS)


class Command(BaseCommand):
    help = (
        "Advances the clock of a merchant's test objects, and does what is then due. Needs KAHA_CLOCK. Live mode, "
        "other merchants and past times are not changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
        parser.add_argument("by", type=_span, metavar="SECONDS|24h|7d", help="how much time, up to 366 days")

    def handle(self, *, merchant: str, by: timedelta, **_: Any) -> None:
        if not settings.KAHA_CLOCK:
            raise CommandError("Time passes by itself here: KAHA_CLOCK is off.")
        owner = arguments.merchant_named(merchant)
        happened = test_clock.advance(Caller(owner.id, livemode=False), by)
        self.stdout.write("\n".join(in_columns(_lines(happened, test_clock.webhooks_due(owner.id)))))


def _span(text: str) -> timedelta:
    """Return seconds or a duration as `arguments.duration` reads it, for argparse."""
    by = timedelta(seconds=int(text)) if SECONDS.fullmatch(text) else arguments.duration(text)
    if not timedelta() < by <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 1 second to {LONGEST.days} days")
    return by


def _lines(happened: ProcessedCounts, webhooks: int) -> list[tuple[object, ...]]:
    return [
        ("holds released", happened.holds),
        ("actions expired", happened.actions),
        ("attempts resolved", happened.lookups),
        ("events of the provider", happened.events),
        ("charges settled", happened.settled),
        ("CVCs destroyed", happened.cvcs),
        ("card numbers destroyed", happened.numbers),
        ("operators' requests expired", happened.requests),
        ("webhooks due", webhooks),
    ]
