import argparse
import sys
from random import Random
from typing import Any

import click
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.reconciliation.runs import Busy
from payments.ids import public_id
from payments.models import Charge
from payments.quickstart.demo import year
from payments.vault import VaultUnavailable


class Command(BaseCommand):
    help = (
        "Writes a believable year of test charges, of every kind and outcome, for new merchants of its own: for demos, "
        "screenshots and benchmarks. Nobody else's objects are touched. Refuses where live charges are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--charges", type=_charges, default=5000, metavar="N", help="how many (default: 5000)")
        parser.add_argument("--merchants", type=int, choices=range(1, 51), default=5, metavar="N", help="1 to 50 (5)")
        parser.add_argument("--seed", type=int, default=1, metavar="N", help="another number, another year")

    def handle(self, *, charges: int, merchants: int, seed: int, **options: Any) -> None:
        if Charge.objects.filter(livemode=True).exists():
            raise CommandError("There are live charges here. Demos belong in a database of their own.")
        random = Random(seed)  # nosec B311 # a demo has no secrets
        try:
            with click.progressbar(length=charges, label="charges", show_pos=True, file=sys.stderr) as bar:
                shops = year.seed(charges, merchants, random, bar.update)
        except (VaultUnavailable, Busy) as fault:
            raise CommandError(f"{type(fault).__name__}: {fault} What was written so far stays.") from fault
        for shop in shops:
            self.stdout.write(f"{public_id('mer', shop.merchant.id)}  {shop.merchant.title}")


def _charges(text: str) -> int:
    count = int(text)
    if count < year.FEWEST:
        raise argparse.ArgumentTypeError(f"at least {year.FEWEST}, so that every kind occurs")
    return count
