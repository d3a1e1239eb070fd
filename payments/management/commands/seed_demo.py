import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from random import Random
from typing import Any

import click
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.reconciliation.runs import Busy
from payments.ids import public_id
from payments.management import arguments
from payments.models import Charge, Merchant
from payments.quickstart.demo import year
from payments.vault import VaultUnavailable


class Command(BaseCommand):
    help = (
        "Makes a believable year or month of test charges, of every kind and outcome, for new merchants: for demos, "
        "screenshots and benchmarks. It runs the verbs of the API on a moved clock. The objects of other merchants "
        "are not touched. It refuses a database with live charges."
    )

    # A merchant that gets its part too, which no command line can name.
    stealth_options = ("own",)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--charges", type=_charges, default=1500, metavar="N", help="how many (default: 1500, a minute)"
        )
        parser.add_argument(
            "--merchants", type=arguments.whole_number, choices=range(1, 51), default=5, metavar="N", help="1 to 50 (5)"
        )
        parser.add_argument(
            "--days",
            type=arguments.whole_number,
            choices=range(30, 366),
            default=365,
            metavar="N",
            help="30 to 365 (365)",
        )
        parser.add_argument(
            "--seed", type=arguments.whole_number, default=1, metavar="N", help="another number, another demo"
        )

    def handle(
        self, *, charges: int, merchants: int, days: int, seed: int, own: Merchant | None = None, **options: Any
    ) -> None:
        if Charge.objects.filter(livemode=True).exists():
            raise CommandError("There are live charges here. Demos belong in a database of their own.")
        random = Random(seed)  # nosec B311 # a demo has no secrets
        try:
            bar = click.progressbar(length=charges, label="charges", show_pos=True, file=sys.stderr)
            with bar, _only_errors():
                shops = year.seed(charges, merchants, random, bar.update, timedelta(days=days), own)
        except (VaultUnavailable, Busy) as fault:
            message = f"{type(fault).__name__}: {fault} The demo of the new merchants is not whole."
            raise CommandError(message) from fault
        for shop in shops:
            self.stdout.write(f"{public_id('mer', shop.merchant.id)}  {shop.merchant.title}")


@contextmanager
def _only_errors() -> Iterator[None]:
    """Keep the verbs from logging what happens in the past, and that they can wake no worker."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _charges(text: str) -> int:
    count = arguments.whole_number(text)
    if count < year.FEWEST:
        raise argparse.ArgumentTypeError(f"at least {year.FEWEST}, so that every kind occurs")
    return count
