"""Charges of the past, for tests."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from random import Random

from payments import clock
from payments.models import Merchant
from payments.quickstart.demo.sales import Sale
from payments.quickstart.demo.shops import Purchase, Shop
from tests.client import APPROVED

NUMBERS = count(1)


def days_ago(number: float) -> datetime:
    """Return noon of the day so many before today, or some part of a day apart from it."""
    today = clock.now().replace(hour=12, minute=0, second=0, microsecond=0)
    return today - timedelta(days=number)


def make_past_charge(
    merchant: Merchant,
    moment: datetime,
    *steps: Callable[[Sale], object],
    number: str = APPROVED,
    amount: int = 10_000,
    currency: str = "PHP",
    hold: bool = False,
) -> Sale:
    """Charge a card of `merchant` at `moment`, and then take `steps`; return the sale."""
    with clock.at(moment):
        sale = Sale(Shop(merchant, Random(1)), Purchase(next(NUMBERS), amount, currency, "Halo-halo"))
        sale.create_source("card", number)
        sale.create_charge(hold=hold)
        for step in steps:
            step(sale)
    return sale
