"""The year: every charge told in its turn, and written batch by batch."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import cycle, islice
from random import Random

from django.db import connection

from payments import clock
from payments.overview import summing
from payments.quickstart.demo import callbacks, cast, rhythm
from payments.quickstart.demo.cast import Role
from payments.quickstart.demo.odds import PLOTS, UNDER_WAY
from payments.quickstart.demo.plots import Plot, pick
from payments.quickstart.demo.reports import Reports
from payments.quickstart.demo.rows import Rows
from payments.quickstart.demo.shop import Shop
from payments.quickstart.demo.story import PresentReached, Purchase, Story

Place = tuple[Shop, Role]
Planned = tuple[datetime, Plot, Shop, Role]
BATCH = 500
FEWEST = 50
# Of what 1,000 centavos come to in the smallest unit of another currency.
UNITS = {"PHP": 1000, "USD": 18, "JPY": 27}


def seed(charges: int, merchants: int, random: Random, told: Callable[[int], None]) -> Sequence[Shop]:
    """Writes a year of so many test charges, at least FEWEST, for so many new merchants, which it returns.

    `told` hears how many more charges were written. Raises VaultUnavailable, and Busy where a reconciliation is
    under way.
    """
    present = clock.now()
    shops = cast.shops(merchants, present - rhythm.YEAR, present, random)
    reports = Reports(present, random)
    plan = _plan(charges, shops, present, random)
    while batch := list(islice(plan, BATCH)):
        rows = Rows()
        for moment, plot, shop, role in batch:
            story = tell(plot, shop, role, moment, present)
            reports.take_in(story)
            rows.join(story)
        rows.copy()
        told(len(batch))
    reports.close(shops[0][0].operators)
    for day in summing.every_day():
        summing.sum_up(day)
    _analyse()
    return [shop for shop, _ in shops]


def tell(plot: Plot, shop: Shop, role: Role, moment: datetime, present: datetime) -> Rows:
    """The rows of one charge that began at `moment`, as they are at `present`."""
    story = Story(shop, _purchase(shop, role), moment, present)
    with suppress(PresentReached):
        plot(story)
        story.wait_until(present)
    callbacks.try_all(shop, story.rows, present)
    return story.rows


def _plan(charges: int, shops: Sequence[Place], present: datetime, random: Random) -> Iterator[Planned]:
    """When each charge begins, in that order, what becomes of it, and where; those under way now are everywhere."""
    for moment in rhythm.moments(charges - len(UNDER_WAY), present, random):
        yield moment, pick(random, PLOTS), *random.choice(shops)  # nosec B311 # a demo has no secrets
    for (plot, fewest, most), place in zip(UNDER_WAY, cycle(shops), strict=False):
        yield present - timedelta(minutes=random.uniform(fewest, most)), plot, *place  # nosec B311 # a demo has no secrets


def _purchase(shop: Shop, role: Role) -> Purchase:
    random = shop.random
    currency = pick(random, role.currencies)
    centavos = role.median_amount * random.lognormvariate(0, 0.6)
    amount = max(100, round(centavos * UNITS[currency] / 1000))
    number = shop.next_order()
    return Purchase(number, amount, currency, f"{random.choice(role.goods)}, order {number}")  # nosec B311 # a demo has no secrets


def _analyse() -> None:
    """So much is new that the planner must not wait to be told; of tables of ours alone, for others are shared."""
    tables = ", ".join(map(connection.ops.quote_name, connection.introspection.django_table_names(only_existing=True)))
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")
