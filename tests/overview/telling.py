"""Past charges for tests."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

from payments import clock
from payments.models import Merchant
from payments.quickstart.demo.shop import Shop
from payments.quickstart.demo.story import Purchase, Story
from tests.client import APPROVED, TELL_NOTHING

NUMBERS = count(1)
FAR = datetime(2100, 1, 1, tzinfo=UTC)


def days_ago(number: float) -> datetime:
    """Return noon of the day `number` days ago; a fraction moves it by a part of a day."""
    today = clock.now().replace(hour=12, minute=0, second=0, microsecond=0)
    return today - timedelta(days=number)


def tell(
    merchant: Merchant,
    moment: datetime,
    *acts: Callable[[Story], object],
    number: str = APPROVED,
    amount: int = 10_000,
    currency: str = "PHP",
    hold: bool = False,
) -> Story:
    """Save a charge of `merchant`, created at `moment`, with the actions after it; return its story."""
    story = Story(Shop(merchant, Random(1)), Purchase(next(NUMBERS), amount, currency, "Halo-halo"), moment, FAR)
    story.wrap("card", {**TELL_NOTHING, "number": number})
    story.take(hold=hold)
    for act in acts:
        act(story)
    story.rows.copy()
    return story
