"""What a worker takes in hand, without a worker."""

import asyncio
from datetime import datetime

from payments import clock
from payments.models import Notification
from payments.notifications import leasing
from payments.notifications.leasing import Claimed
from payments.notifications.results import Answer
from payments.notifications.verdicts import made_of


def only() -> Notification:
    """The one notification that there is."""
    return Notification.objects.get()


def claim(limit: int = 1000, now: datetime | None = None) -> list[Claimed]:
    """What a worker takes in hand that then dies."""

    async def ask() -> list[Claimed]:
        async with await leasing.connect() as database:
            return await leasing.claim(database, limit, now or clock.now())

    return asyncio.run(ask())


def record_answer(claimed: Claimed, status: int) -> None:
    async def ask() -> None:
        async with await leasing.connect() as database:
            answer = made_of(claimed, Answer(status, b"", 1, None), clock.now(), clock.now(), 0.5)
            await leasing.record(database, [answer])

    asyncio.run(ask())
